/// The variants of the roi family: boxes of a feature map, pooled to one size.
#pragma once

#include "kernels/abi/kernel.h"
#include "kernels/cpu/common/variants.h"

namespace aicf::cpu {

void RoiRef(const abi::ArgBlock& args);
/// kAlignAverage of f32: the weights of a bin once, then channel after channel.
AICF_CPU_ISA_VARIANTS(RoiAlign)

}  // namespace aicf::cpu
