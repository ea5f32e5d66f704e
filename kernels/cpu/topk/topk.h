/// The variants of the topk family: the k first elements of each line, in order.
#pragma once

#include "kernels/abi/kernel.h"
#include "kernels/cpu/expr/scalar_eval.h"

namespace aicf::cpu {

/// One element of a line while it is sorted, in the workspace.
struct TopKItem {
  Scalar value;
  int64_t index;
};

struct TopKFloat {
  float value;
  int64_t index;
};

void TopKRef(const abi::ArgBlock& args);
/// The k best of f32 lines in a heap, lines in parallel.
void TopKHeap(const abi::ArgBlock& args);

}  // namespace aicf::cpu
