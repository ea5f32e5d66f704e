#include "compiler/passes/lowered/kernel_guard.h"

#include <cstdio>
#include <vector>

#include "compiler/passes/lowered/copy_pieces.h"
#include "kernels/abi/choice.h"

namespace aicf {
namespace {

bool IsCandidate(const abi::KernelInfo& kernel, const abi::DeviceSpec& device) {
  // Library kernels depend on recorded algorithms, which are not known yet.
  return kernel.backend == device.backend && kernel.key != abi::ReferenceKey(kernel.family);
}

// The kernel's least cost, corrected by measurements; nothing where it does not take the problem.
std::optional<double> CorrectedUs(const abi::KernelInfo& kernel, const abi::Problem& p,
                                  const PassContext& context) {
  const abi::DeviceSpec& device = context.device;
  if (!IsCandidate(kernel, device) || !kernel.supports(p, device).empty()) return std::nullopt;
  std::optional<double> best;
  for (const abi::Candidate& c : abi::CandidatesOf(kernel, p, device)) {
    const double us =
        context.corrected_cost != nullptr ? context.corrected_cost(c, p.math, device) : c.cost_us;
    if (!best || us < *best) best = us;
  }
  return best;
}

struct Fastest {
  const abi::KernelInfo* kernel = nullptr;
  double us = 0;
};

// The kernel whose corrected cost is the least of all; none where none takes the problem.
Fastest FastestOf(const abi::Problem& p, const PassContext& context) {
  Fastest fastest;
  for (const abi::KernelInfo& kernel : abi::KernelsOf(p.family)) {
    const auto us = CorrectedUs(kernel, p, context);
    if (!us || (fastest.kernel != nullptr && *us >= fastest.us)) continue;
    fastest = {&kernel, *us};
  }
  return fastest;
}

// Whether an image's channels are neighbours in memory.
bool HasWholePixels(const abi::View& v) {
  return v.shape.rank() >= 3 && v.strides[1] == 1 && v.shape[1] > 1;
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

abi::Problem AsStored(abi::Problem p, DType storage) {
  if (storage == DType::kF32) return p;
  for (std::vector<abi::View>* views : {&p.inputs, &p.outputs}) {
    for (abi::View& v : *views) {
      if (v.dtype == DType::kF32) v.dtype = storage;
    }
  }
  return p;
}

std::string SlowerThanPixels(const abi::Problem& before, const abi::Problem& after,
                             const PassContext& context) {
  if (context.device.name.empty() || context.device.backend != abi::Backend::kCuda) return "";
  if (before.family != abi::Family::kConv || after.family != abi::Family::kConv) return "";
  const abi::View &pixels = before.outputs[0], &result = after.outputs[0];
  if (!HasWholePixels(pixels) || HasWholePixels(result) || pixels.shape != result.shape) return "";
  const abi::Problem stored = AsStored(before, context.storage);
  const Fastest whole = FastestOf(stored, context);
  const Fastest copy = FastestOf(CopyProblemOf(stored.outputs[0], result), context);
  const Fastest across = FastestOf(AsStored(after, context.storage), context);
  if (whole.kernel == nullptr || copy.kernel == nullptr || across.kernel == nullptr) return "";
  if (whole.us + copy.us >= across.us) return "";
  char times[64];
  std::snprintf(times, sizeof times, "%.1f and %.1f us instead of %.1f", whole.us, copy.us,
                across.us);
  return StrCat("cost: ", whole.kernel->key, " and a copy of its whole pixels take ", times);
}

std::string OnlyReferenceRuns(abi::Family family, const abi::DeviceSpec& device) {
  return StrCat("capability: no kernel of ", abi::FamilyName(family), " but the reference runs on ",
                device.name);
}

std::optional<double> PredictedUs(const abi::Problem& p, const abi::DeviceSpec& device,
                                  std::string* refusal) {
  std::optional<double> best;
  // Of several reasons the refusal names the kernel that takes the problem but has no legal
  // parameters for it.
  std::string why = OnlyReferenceRuns(p.family, device), no_parameters;
  for (const abi::KernelInfo& kernel : abi::KernelsOf(p.family)) {
    if (kernel.backend != device.backend || kernel.key == abi::ReferenceKey(kernel.family))
      continue;
    const std::string refused = kernel.supports(p, device);
    if (!refused.empty()) {
      why = StrCat("capability: ", kernel.key, " refuses: ", refused);
      continue;
    }
    const std::optional<abi::Candidate> candidate = abi::BestCandidate(kernel, p, device);
    if (!candidate) {
      no_parameters =
          StrCat("capability: ", kernel.key, " has no parameters that are legal for the problem");
    } else if (!best || candidate->cost_us < *best) {
      best = candidate->cost_us;
    }
  }
  if (!best) *refusal = std::move(no_parameters.empty() ? why : no_parameters);
  if (best && device.programmatic) *best -= device.launch_us;
  return best;
}

std::optional<double> CorrectedUs(const abi::Problem& p, const PassContext& context,
                                  std::string* refusal) {
  const Fastest fastest = FastestOf(p, context);
  if (fastest.kernel == nullptr) return PredictedUs(p, context.device, refusal);  // why none does
  return fastest.us - (context.device.programmatic ? context.device.launch_us : 0);
}

std::optional<FormCosts> FormsByOneKernel(const abi::Problem& before, const abi::Problem& after,
                                          const PassContext& context, std::string* refusal) {
  const abi::DeviceSpec& device = context.device;
  refusal->clear();
  if (device.name.empty()) return std::nullopt;
  const abi::KernelInfo *kernel = FastestOf(after, context).kernel,
                        *usual = FastestOf(before, context).kernel;
  if (kernel == nullptr || usual == nullptr) {
    *refusal = "capability: no kernel of this device takes both forms";
  } else if (kernel != usual) {
    *refusal = StrCat("cost: ", usual->key, " is the fastest, by prediction, and ", kernel->key,
                      " of those that take the other form");
  }
  if (!refusal->empty()) return std::nullopt;
  const double launch_us = device.programmatic ? device.launch_us : 0;
  return FormCosts{abi::BestCandidate(*kernel, before, device)->cost_us - launch_us,
                   abi::BestCandidate(*kernel, after, device)->cost_us - launch_us};
}

}  // namespace aicf
