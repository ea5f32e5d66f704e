/// cpu.gemm.ref: plain loops, double accumulation; runs every valid problem. The oracle of the
/// others.
#pragma once

#include "kernels/abi/kernel.h"

namespace aicf::cpu {

void GemmRef(const abi::ArgBlock& args);

}  // namespace aicf::cpu
