#include "compiler/passes/plan/order_decisions.h"

#include <algorithm>

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
  for (const Decision& d : context.decisions->decisions()) {
    if (d.kind != "kernel" || d.step < 0 || static_cast<size_t>(d.step) >= us.size()) continue;
    us[static_cast<size_t>(d.step)] = d.measured_us >= 0 ? d.measured_us : d.cost_us;
  }
  return us;
}

Decision OrderDecision(const schema::Program& program, size_t step, std::string_view kind,
                       std::string_view pass, const PassContext& context) {
  Decision d;
  d.kind = kind;
  d.nodes = program.steps[step].sources;
  std::string names;
  for (const std::string& node : d.nodes) names += StrCat(names.empty() ? "" : ", ", node);
  d.subject = StrCat("step ", step, " [", names, "]");
  d.pass = pass;
  d.entry = context.entry;
  d.step = static_cast<int>(step);
  return d;
}

const Wish* FindWish(const PassContext& context, const Decision& decision, int occurrence) {
  if (context.wishes == nullptr) return nullptr;
  return context.wishes->Find(IdentityOf(decision), occurrence);
}

}  // namespace aicf
