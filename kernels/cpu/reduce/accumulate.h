/// The reference's running result of one reduction: sums and products of floats in double, integers
/// exactly (wrapping), argmin and argmax as positions.
#pragma once

#include <cstdint>

#include "kernels/abi/attrs.h"
#include "kernels/cpu/expr/scalar_eval.h"

namespace aicf::cpu {

/// A NaN wins minimum, maximum and both arg-reductions, and the first one stays.
/// Nothing reduced gives 0, 1, the extreme value of the dtype (+-infinity for floats), NaN for the
/// mean of floats (0 for integers), or position 0.
class Accumulator {
 public:
  Accumulator(abi::ReduceKind kind, bool last_index, DType dtype);

  void Add(Scalar value);
  /// Raw result: of the dtype reduced, rounded once; a position (i64) for arg-reductions.
  Scalar Finish() const;

 private:
  bool Better(Scalar value) const;
  void AddExtreme(Scalar value);

  abi::ReduceKind kind_;
  bool last_index_;
  DType dtype_;
  Scalar value_;
  int64_t count_ = 0;
  int64_t position_ = 0;
};

}  // namespace aicf::cpu
