/// The variants of the normalize family: softmax, log-softmax, layer norm and RMS norm over any
/// axes.
#pragma once

#include "kernels/abi/kernel.h"
#include "kernels/cpu/common/variants.h"

namespace aicf::cpu {

void NormalizeRef(const abi::ArgBlock& args);
/// Groups of f32 values in contiguous memory, with any prologue and epilogue.
AICF_CPU_ISA_VARIANTS(Normalize)

}  // namespace aicf::cpu
