#include "kernels/abi/registry.h"
#include "kernels/cpu/gemm/gemm_host.h"

namespace aicf::abi {

template <>
std::span<const KernelInfo> CpuKernels<Family::kGemm>() {
  using enum CpuIsa;
  using namespace cpu;  // NOLINT(google-build-using-namespace): the rows name host functions there
  static const KernelInfo rows[] = {
#define AICF_CPU_KERNEL(key, host, function) RowOf<host>(key, Family::kGemm),
#include "kernels/cpu/gemm/list.inc"
#undef AICF_CPU_KERNEL
  };
  return rows;
}

}  // namespace aicf::abi
