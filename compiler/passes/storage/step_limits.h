/// What a step's family demands of the dtypes of its operands and results when f32 values are
/// stored in 16 bits.
#pragma once

#include <vector>

#include "kernels/abi/problem.h"

namespace aicf::storage {

/// How many operands, from the first on, a step multiplies with each other: 2 (gemm, conv), 3
/// (attention), or 0 for a family that multiplies none. They have one dtype.
int MultipliedOperands(const abi::Problem& problem);

/// Operands and results that a family moves from one to the other as they are, so that they have
/// one dtype; empty for families whose results are computed.
struct Tied {
  std::vector<int> inputs, outputs;
  bool empty() const { return inputs.empty() && outputs.empty(); }
};
Tied TiedValues(const abi::Problem& problem);

}  // namespace aicf::storage
