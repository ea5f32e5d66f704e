/// The variants of the copy family: pieces placed into an output, with an optional fill around
/// them.
#pragma once

#include "kernels/abi/kernel.h"
#include "kernels/cpu/common/variants.h"

namespace aicf::cpu {

void CopyRef(const abi::ArgBlock& args);
/// Takes any valid problem. Pieces are copied as contiguous runs or as transposes, and the fill is
/// stored, by element size.
AICF_CPU_ISA_VARIANTS(Copy)

}  // namespace aicf::cpu
