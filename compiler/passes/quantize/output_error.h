/// How far the outputs of one run are from those of another, over any number of samples.
#pragma once

#include <vector>

#include "compiler/ir/tensor.h"

namespace aicf::quantize {

class OutputError {
 public:
  /// Adds a sample's outputs. Elements whose expected value is no finite number are left out.
  void Add(const std::vector<ir::Tensor>& expected, const std::vector<ir::Tensor>& found);
  /// The relative error as Calibrate defines it (calibrate.h), at most 1e30.
  double Relative() const;

 private:
  struct Sums {
    bool is_float = true;
    double squares = 0, errors = 0;  ///< of floats
    double count = 0, differ = 0;    ///< of others
  };
  std::vector<Sums> sums_;
};

}  // namespace aicf::quantize
