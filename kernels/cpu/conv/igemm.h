/// cpu.conv.igemm_*: convolution, plain, grouped or transposed, as matrix products over packed
/// weights (kernels/cpu/gemm/igemm.h). Host functions in conv/hosts.h.
#pragma once

#include "kernels/abi/kernel.h"

namespace aicf::cpu {

template <abi::CpuIsa kIsa>
void ConvIgemm(const abi::ArgBlock& args);

/// cpu.conv.depthwise_*: one filter per channel; vectors run over channels.
template <abi::CpuIsa kIsa>
void ConvDepthwise(const abi::ArgBlock& args);

extern template void ConvIgemm<abi::CpuIsa::kBaseline>(const abi::ArgBlock&);
extern template void ConvIgemm<abi::CpuIsa::kAvx2>(const abi::ArgBlock&);
extern template void ConvIgemm<abi::CpuIsa::kAvx512>(const abi::ArgBlock&);
extern template void ConvDepthwise<abi::CpuIsa::kBaseline>(const abi::ArgBlock&);
extern template void ConvDepthwise<abi::CpuIsa::kAvx2>(const abi::ArgBlock&);
extern template void ConvDepthwise<abi::CpuIsa::kAvx512>(const abi::ArgBlock&);

}  // namespace aicf::cpu
