#include "tools/inspect/evidence.h"

#include <algorithm>
#include <set>

namespace aicf::tools {
namespace {

constexpr std::string_view kStepPasses[] = {
    "choose-math", "store-weights",    "guard-branches", "forward-copies",
    "cse-steps",   "fuse-elementwise", "fuse-epilogue",  "fuse-prologue",
    "form-fma",    "eliminate-copies", "dead-steps",     "explain-separate"};

constexpr std::string_view kPlanKinds[] = {"kernel", "algorithm", "in-place", "memory", "state"};

template <class List>
bool Has(const List& list, std::string_view word) {
  return std::ranges::find(list, word) != std::ranges::end(list);
}

}  // namespace

Stage StageOf(const RecordedDecision& decision) {
  if (decision.step >= 0 || Has(kPlanKinds, decision.kind)) return Stage::kPlan;
  if (decision.pass == "lower") return Stage::kLowering;
  if (Has(kStepPasses, decision.pass) || decision.IsEdge()) return Stage::kSteps;
  return Stage::kGraph;
}

const RecordedProgram* Evidence::LoweredOf(size_t entry) const {
  if (lowered.size() == 1 && lowered[0].entry.empty()) return &lowered[0];
  for (const RecordedProgram& p : lowered) {
    if (p.entry == program->entry_points[entry].name) return &p;
  }
  return nullptr;
}

size_t Evidence::EntryOf(uint32_t step) const {
  for (size_t e = 0; e < program->entry_points.size(); ++e) {
    const schema::EntryPoint& entry = program->entry_points[e];
    if (step - entry.first_step < entry.step_count) return e;
  }
  return 0;
}

bool Evidence::IsFor(const RecordedDecision& d, size_t entry) const {
  return d.entry.empty() || d.entry == program->entry_points[entry].name;
}

std::vector<std::string> Evidence::NodesOf(size_t entry) const {
  std::set<std::string> names;
  const auto add = [&](const std::vector<std::string>& more) {
    names.insert(more.begin(), more.end());
  };
  const schema::EntryPoint& e = program->entry_points[entry];
  for (uint32_t s = 0; s < e.step_count; ++s) add(program->steps[e.first_step + s].sources);
  if (const RecordedProgram* before = LoweredOf(entry)) {
    for (const RecordedStep& step : before->steps) add(step.sources);
  }
  for (const RecordedDecision& d : decisions) {
    if (!IsFor(d, entry)) continue;
    add(d.nodes);
    add(d.into);
    add(QuotedNames(d.choice));
  }
  return {names.begin(), names.end()};
}

Evidence GatherEvidence(const schema::Artifact& artifact) {
  Evidence out;
  out.program = &artifact.program();
  out.lines = ParseDecisions(artifact.text(schema::SectionKind::kDecisions));
  out.decisions = ReadDecisions(out.lines, artifact.program());
  auto lowered = ReadLowered(artifact.text(schema::SectionKind::kLowered));
  if (lowered.ok()) {
    out.lowered = *std::move(lowered);
  } else {
    out.lowered_fault = lowered.status().message();
  }
  return out;
}

}  // namespace aicf::tools
