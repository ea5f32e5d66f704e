/// The index operand of random gathers and scatters.
#pragma once

#include <algorithm>

#include "kernels/cpu/common/test_step.h"

namespace aicf::cpu {

inline DType RandomIndexType(Random& random) {
  constexpr DType kTypes[] = {DType::kI64, DType::kI32, DType::kI64, DType::kI8};
  return kTypes[Pick(random, 0, 3)];
}

/// Fills operand 1, the indices, with values up to the longest extent of operand 0, the data, and
/// down to its negative: some count from the end, and some lie outside of their axis.
inline void FillIndices(Random& random, TestStep& step) {
  int64_t longest = 1;
  for (int64_t e : step.problem.inputs[0].shape) longest = std::max(longest, e);
  for (int64_t k = 0; k < step.input(1).elements(); ++k) {
    step.input(1).Set(k, static_cast<double>(Pick(random, -longest, longest)));
  }
}

}  // namespace aicf::cpu
