#include "kernels/abi/registry.h"
#include "kernels/cpu/attention/hosts.h"

namespace aicf::abi {

template <>
std::span<const KernelInfo> CpuKernels<Family::kAttention>() {
  using enum CpuIsa;
  using namespace cpu;  // NOLINT(google-build-using-namespace): the rows name host functions there
  using namespace cpu::attention_hosts;  // NOLINT(google-build-using-namespace)
  static const KernelInfo rows[] = {
#define AICF_CPU_KERNEL(key, host, function) RowOf<host>(key, Family::kAttention),
#include "kernels/cpu/attention/list.inc"
#undef AICF_CPU_KERNEL
  };
  return rows;
}

}  // namespace aicf::abi
