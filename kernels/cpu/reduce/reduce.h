/// The variants of the reduce family: sums, products, extremes, means and arg-extremes over any
/// axes.
#pragma once

#include "kernels/abi/kernel.h"
#include "kernels/cpu/common/variants.h"

namespace aicf::cpu {

void ReduceRef(const abi::ArgBlock& args);
/// Vector sums and extremes of f32 values, over any axes and any prologue.
AICF_CPU_ISA_VARIANTS(Reduce)

}  // namespace aicf::cpu
