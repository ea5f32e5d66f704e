#include "compiler/passes/lowered/kernel_guard.h"

namespace aicf {
namespace {

bool IsCandidate(const abi::KernelInfo& kernel, const abi::DeviceSpec& device) {
  // Library kernels depend on recorded algorithms, which are not known yet.
  return kernel.backend == device.backend && kernel.key != abi::ReferenceKey(kernel.family);
}

}  // namespace

std::string LosesKernel(const abi::Problem& before, const abi::Problem& after,
                        const abi::DeviceSpec& device) {
  if (device.name.empty()) return "";
  std::string lost;
  for (const abi::KernelInfo& kernel : abi::KernelsOf(before.family)) {
    if (!IsCandidate(kernel, device)) continue;
    const std::string refusal = kernel.supports(after, device);
    if (refusal.empty()) return "";
    if (lost.empty() && kernel.supports(before, device).empty()) {
      lost = StrCat("capability: ", kernel.key, " would refuse: ", refusal);
    }
  }
  return lost;
}

}  // namespace aicf
