#include "kernels/abi/registry.h"
#include "kernels/cpu/nms/hosts.h"

namespace aicf::abi {

template <>
std::span<const KernelInfo> CpuKernels<Family::kNms>() {
  using namespace cpu;  // NOLINT(google-build-using-namespace): the rows name host functions there
  using namespace cpu::nms_hosts;  // NOLINT(google-build-using-namespace)
  static const KernelInfo rows[] = {
#define AICF_CPU_KERNEL(key, isa, host, function) HostRow<host, isa>(key, Family::kNms),
#include "kernels/cpu/nms/list.inc"
#undef AICF_CPU_KERNEL
  };
  return rows;
}

}  // namespace aicf::abi
