/// cpu.gemm.integer_* and cpu.gemm.integer_panels_*: products of i8, u8 and i16 with i32 sums over
/// packed panels of B (kernels/cpu/gemm/igemm.h, IntegerForm). Exact: sums wrap. Host functions in
/// gemm/integer_hosts.h.
#pragma once

#include "kernels/abi/kernel.h"

namespace aicf::cpu {

/// B was packed by the compiler.
template <abi::CpuIsa kIsa>
void GemmInteger(const abi::ArgBlock& args);

/// B is packed into the workspace by each call.
template <abi::CpuIsa kIsa>
void GemmIntegerPanels(const abi::ArgBlock& args);

#define AICF_GEMM_OF(isa)                                                   \
  extern template void GemmInteger<abi::CpuIsa::isa>(const abi::ArgBlock&); \
  extern template void GemmIntegerPanels<abi::CpuIsa::isa>(const abi::ArgBlock&);
AICF_GEMM_OF(kBaseline)
AICF_GEMM_OF(kAvx2)
AICF_GEMM_OF(kAvx512)
#undef AICF_GEMM_OF

}  // namespace aicf::cpu
