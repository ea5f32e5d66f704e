#include "kernels/abi/registry.h"
#include "kernels/cpu/scan/hosts.h"

namespace aicf::abi {

template <>
std::span<const KernelInfo> CpuKernels<Family::kScan>() {
  using namespace cpu;  // NOLINT(google-build-using-namespace): the rows name host functions there
  using namespace cpu::scan_hosts;  // NOLINT(google-build-using-namespace)
  static const KernelInfo rows[] = {
#define AICF_CPU_KERNEL(key, isa, host, function) HostRow<host, isa>(key, Family::kScan),
#include "kernels/cpu/scan/list.inc"
#undef AICF_CPU_KERNEL
  };
  return rows;
}

}  // namespace aicf::abi
