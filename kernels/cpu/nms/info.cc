#include "kernels/cpu/common/host.h"
#include "kernels/cpu/nms/nms.h"

namespace aicf::cpu {
namespace {

struct SortedHost : CpuHostBase {
  static constexpr double kBytesShare = 0.05;
  static uint64_t Workspace(const abi::Problem& p, const abi::DeviceSpec&) {
    return NmsSortedWorkspace(p);
  }
};

struct ReferenceHost : CpuHostBase {
  static constexpr double kBytesShare = 0.001;
  static uint64_t Workspace(const abi::Problem& p, const abi::DeviceSpec&) {
    return static_cast<uint64_t>(NmsExtents(p).boxes);
  }
};

}  // namespace
}  // namespace aicf::cpu

namespace aicf::abi {

template <>
std::span<const KernelInfo> CpuKernels<Family::kNms>() {
  using namespace cpu;  // NOLINT(google-build-using-namespace): the rows name host functions there
  static const KernelInfo rows[] = {
#define AICF_CPU_KERNEL(key, isa, host, function) HostRow<host, isa>(key, Family::kNms),
#include "kernels/cpu/nms/list.inc"
#undef AICF_CPU_KERNEL
  };
  return rows;
}

}  // namespace aicf::abi
