#include "compiler/check/kernel_gaps.h"

#include "compiler/select/choose.h"

namespace aicf {

// The choice is one step's own, so a program of that step alone has the same answer.
std::vector<KernelGap> FindKernelGaps(const ir::Lowered& lowered, const PlanOptions& options,
                                      PassContext& context) {
  std::vector<KernelGap> out;
  ir::Lowered alone = lowered;
  for (const ir::LoweredStep& step : lowered.steps) {
    alone.steps.assign(1, step);
    const Status status = ChooseKernels(alone, options, context).status();
    if (status.code() != Code::kUnsupported) continue;
    std::string problem = status.message();
    const std::string label = StepSubject(0, step) + ": ";
    if (problem.starts_with(label)) problem.erase(0, label.size());
    out.push_back({abi::FamilyName(step.problem.family), step.sources, std::move(problem)});
  }
  return out;
}

}  // namespace aicf
