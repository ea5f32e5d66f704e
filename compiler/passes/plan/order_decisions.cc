#include "compiler/passes/plan/order_decisions.h"

#include <algorithm>
#include <cstdio>

namespace aicf {

bool SkipsOrRepeats(const schema::Program& program) {
  return std::ranges::any_of(program.steps,
                             [](const schema::Step& s) { return !s.guards.empty(); }) ||
         std::ranges::any_of(program.entry_points,
                             [](const schema::EntryPoint& e) { return !e.loops.empty(); });
}

bool IsOwnKernel(const schema::Step& step) { return step.kernel.starts_with("cuda."); }

std::vector<double> StepCosts(const schema::Program& program, const PassContext& context) {
  std::vector<double> us(program.steps.size(), -1);
  context.decisions->ForEach([&](const Decision& d) {
    const int step = d.subject.step;
    if (d.kind != DecisionKind::kKernel || step < 0) return;
    if (static_cast<size_t>(step) >= us.size()) return;
    us[static_cast<size_t>(step)] = d.measured_us >= 0 ? d.measured_us : d.cost_us;
  });
  return us;
}

std::string TimeText(double us) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.3g us", us);
  return text;
}

Decision OrderDecision(const schema::Program& program, size_t step, DecisionKind kind,
                       std::string_view pass, const PassContext& context) {
  return context.About(
      kind, schema::Subject::Step(static_cast<int>(step), program.steps[step].sources), pass);
}

const Wish* FindWish(const PassContext& context, const Decision& decision, int occurrence) {
  if (context.wishes == nullptr) return nullptr;
  return context.wishes->Find(IdentityOf(decision), occurrence);
}

}  // namespace aicf
