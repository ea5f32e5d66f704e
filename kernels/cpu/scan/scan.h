/// The variants of the scan family: running sums and products along one axis.
#pragma once

#include "kernels/abi/kernel.h"
#include "kernels/cpu/common/variants.h"

namespace aicf::cpu {

void ScanRef(const abi::ArgBlock& args);
/// f32, f64, i32 and i64, dense.
AICF_CPU_ISA_VARIANTS(Scan)

}  // namespace aicf::cpu
