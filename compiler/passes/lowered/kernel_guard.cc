#include "compiler/passes/lowered/kernel_guard.h"

#include "kernels/abi/choice.h"

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

std::optional<double> PredictedUs(const abi::Problem& p, const abi::DeviceSpec& device,
                                  std::string* refusal) {
  std::optional<double> best;
  for (const abi::KernelInfo& kernel : abi::KernelsOf(p.family)) {
    if (kernel.backend != device.backend || kernel.key == abi::ReferenceKey(kernel.family))
      continue;
    const std::string refused = kernel.supports(p, device);
    if (!refused.empty()) {
      *refusal = StrCat("capability: ", kernel.key, " refuses: ", refused);
      continue;
    }
    const std::optional<abi::Candidate> candidate = abi::BestCandidate(kernel, p, device);
    if (candidate && (!best || candidate->cost_us < *best)) best = candidate->cost_us;
  }
  if (best && device.programmatic) *best -= device.launch_us;
  return best;
}

}  // namespace aicf
