/// The operands of cuda.conv.hopper as the copy engine sees them: tensors of four axes.
#pragma once

#include <string>

#include "kernels/abi/parameters.h"
#include "kernels/abi/tensor_map.h"

namespace aicf::cuda {

class ConvHopperMaps {
 public:
  /// Empty, or why the engine cannot read the input, or the weights. REQUIRES: a single group, one
  /// or two spatial axes.
  static std::string RefuseInput(const abi::Problem& problem);
  static std::string RefuseWeights(const abi::Problem& problem);

  /// REQUIRES: RefuseInput and RefuseWeights are empty.
  ConvHopperMaps(const abi::Problem& problem, const abi::Parameters& parameters)
      : p_(problem), c_(parameters) {}

  /// Empty, or why the weights' tile cannot be fetched.
  std::string RefuseTile() const;
  abi::TensorMap Input() const;
  abi::TensorMap Weights() const;

 private:
  const abi::Problem& p_;
  const abi::Parameters& c_;
};

}  // namespace aicf::cuda
