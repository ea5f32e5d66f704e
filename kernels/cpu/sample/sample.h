/// The variants of the sample family: x at coordinates that a grid names.
#pragma once

#include "kernels/abi/kernel.h"

namespace aicf::cpu {

void SampleRef(const abi::ArgBlock& args);
/// f32: the elements and weights of a run of points once, then channel after channel.
void SampleTaps(const abi::ArgBlock& args);

}  // namespace aicf::cpu
