/// The variants of the resize family: nearest, linear and cubic resampling.
#pragma once

#include "kernels/abi/kernel.h"
#include "kernels/cpu/common/variants.h"

namespace aicf::cpu {

void ResizeRef(const abi::ArgBlock& args);
/// Nearest for every dtype; linear and cubic for floats, x contiguous along the innermost axis.
AICF_CPU_ISA_VARIANTS(Resize)

}  // namespace aicf::cpu
