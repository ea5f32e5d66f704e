/// The variants of the sample family: x at coordinates that a grid names.
#pragma once

#include "kernels/abi/kernel.h"
#include "kernels/cpu/common/variants.h"

namespace aicf::cpu {

void SampleRef(const abi::ArgBlock& args);
/// f32: the elements and weights of a run of points once, then channel after channel.
AICF_CPU_ISA_VARIANTS(Sample)

}  // namespace aicf::cpu
