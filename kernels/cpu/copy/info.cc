#include "kernels/cpu/common/host.h"

namespace aicf::cpu {
namespace {

struct VectorHost : CpuHostBase {};

struct ReferenceHost : CpuHostBase {
  static constexpr double kFlopsShare = 0.002;
  static constexpr double kBytesShare = 0.02;
};

}  // namespace
}  // namespace aicf::cpu

namespace aicf::abi {

template <>
std::span<const KernelInfo> CpuKernels<Family::kCopy>() {
  using namespace cpu;  // NOLINT(google-build-using-namespace): the rows name host functions there
  static const KernelInfo rows[] = {
#define AICF_CPU_KERNEL(key, isa, host, function) HostRow<host, isa>(key, Family::kCopy),
#include "kernels/cpu/copy/list.inc"
#undef AICF_CPU_KERNEL
  };
  return rows;
}

}  // namespace aicf::abi
