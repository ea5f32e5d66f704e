/// The variants of the categorical family: draws by logits.
#pragma once

#include "kernels/abi/kernel.h"
#include "kernels/cpu/common/variants.h"

namespace aicf::cpu {

void CategoricalRef(const abi::ArgBlock& args);
/// No row is sorted: its few largest logits are found through the maxima of groups.
AICF_CPU_ISA_VARIANTS(Categorical)

}  // namespace aicf::cpu
