/// cpu.gemm.ref: plain loops, double accumulation; runs every valid problem. The oracle of the
/// others.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/abi/kernel.h"

namespace aicf::cpu {

void GemmRef(const abi::ArgBlock& args);

/// The row of A at `at`, normalised as abi::GemmAttrs says. Leaves 0 in the last coordinate of
/// `at`.
std::vector<float> NormalizedRow(const abi::ArgBlock& args, int64_t* at);

}  // namespace aicf::cpu
