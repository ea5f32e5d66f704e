/// The variants of the elementwise family: one expression at every point of a domain.
#pragma once

#include "kernels/abi/kernel.h"
#include "kernels/cpu/common/variants.h"

namespace aicf::cpu {

void ElementwiseRef(const abi::ArgBlock& args);
/// Blocks through EvalBlock: any valid problem.
AICF_CPU_ISA_VARIANTS(Elementwise)

}  // namespace aicf::cpu
