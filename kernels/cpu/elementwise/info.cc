#include "kernels/abi/registry.h"
#include "kernels/cpu/elementwise/hosts.h"

namespace aicf::abi {

template <>
std::span<const KernelInfo> CpuKernels<Family::kElementwise>() {
  using namespace cpu;  // NOLINT(google-build-using-namespace): the rows name host functions there
  using namespace cpu::elementwise_hosts;  // NOLINT(google-build-using-namespace)
  static const KernelInfo rows[] = {
#define AICF_CPU_KERNEL(key, isa, host, function) HostRow<host, isa>(key, Family::kElementwise),
#include "kernels/cpu/elementwise/list.inc"
#undef AICF_CPU_KERNEL
  };
  return rows;
}

}  // namespace aicf::abi
