/// The variants of the pool family: maximum, average and p-norm over windows.
#pragma once

#include "kernels/abi/kernel.h"
#include "kernels/cpu/common/variants.h"

namespace aicf::cpu {

void PoolRef(const abi::ArgBlock& args);
/// Maximum and average of floats, channels or columns contiguous, in up to three spatial axes.
AICF_CPU_ISA_VARIANTS(Pool)

}  // namespace aicf::cpu
