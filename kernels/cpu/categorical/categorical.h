/// The variants of the categorical family: draws by logits.
#pragma once

#include "kernels/abi/kernel.h"
#include "kernels/cpu/common/variants.h"

namespace aicf::cpu {

void CategoricalRef(const abi::ArgBlock& args);
/// Finds a row's few largest logits through the maxima of groups instead of sorting the row.
AICF_CPU_ISA_VARIANTS(Categorical)

}  // namespace aicf::cpu
