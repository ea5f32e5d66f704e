#include "kernels/abi/registry.h"
#include "kernels/cpu/conv/host.h"

namespace aicf::abi {

template <>
std::span<const KernelInfo> CpuKernels<Family::kConv>() {
  using enum CpuIsa;
  using namespace cpu;  // NOLINT(google-build-using-namespace): the rows name host functions there
  static const KernelInfo rows[] = {
#define AICF_CPU_KERNEL(key, host, function) RowOf<host>(key, Family::kConv),
#include "kernels/cpu/conv/list.inc"
#undef AICF_CPU_KERNEL
  };
  return rows;
}

}  // namespace aicf::abi
