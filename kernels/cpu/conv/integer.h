/// cpu.conv.integer_*: convolution of i8, u8 and i16, plain, grouped or transposed, as products of
/// cells over packed weights (kernels/cpu/gemm/igemm.h, IntegerForm). Exact: i32 sums wrap. Host
/// functions in conv/integer_hosts.h.
#pragma once

#include "kernels/abi/kernel.h"

namespace aicf::cpu {

template <abi::CpuIsa kIsa>
void ConvInteger(const abi::ArgBlock& args);

extern template void ConvInteger<abi::CpuIsa::kBaseline>(const abi::ArgBlock&);
extern template void ConvInteger<abi::CpuIsa::kAvx2>(const abi::ArgBlock&);
extern template void ConvInteger<abi::CpuIsa::kAvx512>(const abi::ArgBlock&);

}  // namespace aicf::cpu
