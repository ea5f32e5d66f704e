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
  std::string refused;
  for (const abi::KernelInfo& kernel : abi::KernelsOf(after.family)) {
    if (!IsCandidate(kernel, device)) continue;
    const std::string refusal = kernel.supports(after, device);
    if (refusal.empty()) return "";
    // Of several refusals, that of the kernel which is lost says most.
    const bool lost = after.family != before.family || kernel.supports(before, device).empty();
    if (refused.empty() && lost) {
      refused = StrCat("capability: ", kernel.key, " would refuse: ", refusal);
    }
  }
  if (after.family == before.family) return refused;
  for (const abi::KernelInfo& kernel : abi::KernelsOf(before.family)) {
    if (IsCandidate(kernel, device) && kernel.supports(before, device).empty()) return refused;
  }
  return "";
}

}  // namespace aicf
