/// Watches the elements of one value over samples, and says up to which magnitude codes should
/// reach.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/passes/quantize/calibration.h"

namespace aicf::quantize {

/// Keeps a histogram of magnitudes whose bins get twice as wide whenever an element lies beyond the
/// last one, so that one pass over the samples is enough. Zeros are counted but are in no bin,
/// since there is a code for zero in any case.
class Observer {
 public:
  void Add(std::span<const float> elements);

  double low() const { return low_; }    ///< 0 where no element is negative
  double high() const { return high_; }  ///< 0 where no element is positive
  bool finite() const { return finite_; }
  int64_t count() const { return count_; }  ///< of finite elements

  /// The largest magnitude that is to have a code; 0 where every element is zero.
  /// `levels`: how many codes there are for magnitudes, 128 (signed) or 256 (unsigned).
  double Limit(RangeMethod method, int levels) const;

 private:
  double Largest() const;
  void Reach(double magnitude);
  double Percentile() const;
  double Entropy(int levels) const;

  double low_ = 0, high_ = 0;
  bool finite_ = true;
  int64_t count_ = 0;
  double width_ = 0;  ///< of a bin; 0: nothing but zeros so far
  std::vector<int64_t> bins_;
};

}  // namespace aicf::quantize
