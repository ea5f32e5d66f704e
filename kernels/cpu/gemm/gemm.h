/// cpu.gemm.packed_* and cpu.gemm.panels_*: matrix products over packed panels of B
/// (kernels/cpu/gemm/igemm.h). Host functions in gemm/hosts.h.
#pragma once

#include "kernels/abi/kernel.h"

namespace aicf::cpu {

/// B was packed by the compiler.
template <abi::CpuIsa kIsa>
void GemmPacked(const abi::ArgBlock& args);

/// B is packed into the workspace by each call, or read in place where that is cheaper.
template <abi::CpuIsa kIsa>
void GemmPanels(const abi::ArgBlock& args);

#define AICF_GEMM_OF(isa)                                                  \
  extern template void GemmPacked<abi::CpuIsa::isa>(const abi::ArgBlock&); \
  extern template void GemmPanels<abi::CpuIsa::isa>(const abi::ArgBlock&);
AICF_GEMM_OF(kBaseline)
AICF_GEMM_OF(kAvx2)
AICF_GEMM_OF(kAvx512)
#undef AICF_GEMM_OF

}  // namespace aicf::cpu
