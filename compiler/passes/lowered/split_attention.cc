#include "compiler/ir/lowered_edit.h"
#include "compiler/passes/lowered/attention_steps.h"
#include "compiler/passes/lowered/fuse.h"
#include "compiler/passes/lowered/kernel_guard.h"
#include "compiler/passes/lowered/passes.h"

namespace aicf {
namespace {

constexpr std::string_view kSplitAttention = "split-attention";

// The first kernel of the family on this device, other than the reference, that takes the step. If
// none does, `refusal` says why the last one, which asks least of the device, does not.
struct Taker {
  std::string_view kernel;
  std::string refusal;
};
Taker TakerOf(const abi::Problem& problem, const abi::DeviceSpec& device) {
  Taker out{{}, OnlyReferenceRuns(problem.family, device)};
  for (const abi::KernelInfo& kernel : abi::KernelsOf(problem.family)) {
    if (kernel.backend != device.backend || kernel.key == abi::ReferenceKey(kernel.family))
      continue;
    const std::string refusal = kernel.supports(problem, device);
    if (refusal.empty()) return {kernel.key, ""};
    out.refusal = StrCat("capability: ", kernel.key, " refuses: ", refusal);
  }
  return out;
}

void Record(PassContext& context, const ir::LoweredStep& step, const Taker& taker, bool split) {
  Decision d = context.About(DecisionKind::kFusion, SubjectOf(step), kSplitAttention);
  d.choice = split ? "product, softmax, product" : "attention";
  d.Because(Reason::kRule, split ? "products and a softmax have faster kernels than the reference"
                                 : "the scores are never stored");
  if (!taker.refusal.empty()) d.alternatives.push_back({"attention", taker.refusal, -1});
  context.Record(std::move(d));
}

}  // namespace

// A step that only the reference would take is slower than the steps it replaces.
Status SplitAttention(ir::Lowered& lowered, PassContext& context) {
  if (context.device.name.empty()) return OkStatus();
  std::vector<ir::LoweredStep> steps;
  bool changed = false;
  for (ir::LoweredStep& step : lowered.steps) {
    if (step.problem.family != abi::Family::kAttention) {
      steps.push_back(std::move(step));
      continue;
    }
    const Taker taker = TakerOf(step.problem, context.device);
    const bool split = !taker.refusal.empty() && CheckSplit(step.problem).empty();
    Record(context, step, taker, split);
    if (!split) {
      steps.push_back(std::move(step));
      continue;
    }
    for (ir::LoweredStep& part : AttentionSteps(lowered, step)) steps.push_back(std::move(part));
    changed = true;
  }
  lowered.steps = std::move(steps);
  if (changed) ir::DropUnusedBuffers(lowered);
  return OkStatus();
}

}  // namespace aicf
