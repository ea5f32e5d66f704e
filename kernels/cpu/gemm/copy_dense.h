/// Gathering of operands that a kernel cannot read in place.
#pragma once

#include "kernels/abi/kernel.h"
#include "kernels/cpu/gemm/widen.h"

namespace aicf::cpu {

/// Copies a strided f32, f16 or bf16 tensor of two to kMaxRank axes into a dense f32 one whose axes
/// are `order` (outermost first), on the caller's threads.
void CopyDense(const abi::ArgBlock& args, const abi::TensorArg& from, const int* order,
               WidenRunFn widen, float* to);

}  // namespace aicf::cpu
