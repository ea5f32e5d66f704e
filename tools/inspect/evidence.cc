#include "tools/inspect/evidence.h"

#include <algorithm>

namespace aicf::tools {
namespace {

constexpr std::string_view kStepPasses[] = {
#define AICF_GRAPH_PASS(...)
#define AICF_LOWERED_PASS(name, ...) name,
#define AICF_PLAN_PASS(...)
#include "compiler/passes/pass_list.def"
#undef AICF_GRAPH_PASS
#undef AICF_LOWERED_PASS
#undef AICF_PLAN_PASS
};

constexpr DecisionKind kPlanKinds[] = {
    DecisionKind::kKernel,  DecisionKind::kParameters, DecisionKind::kAlgorithm,
    DecisionKind::kPacking, DecisionKind::kInPlace,    DecisionKind::kMemory,
    DecisionKind::kState,   DecisionKind::kStream,     DecisionKind::kLaunch};

constexpr std::string_view kPlanPasses[] = {
#define AICF_GRAPH_PASS(...)
#define AICF_LOWERED_PASS(...)
#define AICF_PLAN_PASS(name, ...) name,
#include "compiler/passes/pass_list.def"
#undef AICF_GRAPH_PASS
#undef AICF_LOWERED_PASS
#undef AICF_PLAN_PASS
};

template <class List, class Item>
bool Has(const List& list, const Item& item) {
  return std::ranges::find(list, item) != std::ranges::end(list);
}

}  // namespace

Stage StageOf(const Decision& decision) {
  if (decision.subject.step >= 0 || Has(kPlanKinds, decision.kind)) return Stage::kPlan;
  if (Has(kPlanPasses, decision.pass)) return Stage::kPlan;
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

bool Evidence::IsFor(const Decision& d, size_t entry) const {
  return d.subject.entry.empty() || d.subject.entry == program->entry_points[entry].name;
}

bool Evidence::Knows(size_t entry, std::string_view node) const {
  const auto found = mentions.find(node);
  if (found == mentions.end()) return false;
  const Mentions& m = found->second;
  const schema::EntryPoint& e = program->entry_points[entry];
  const RecordedProgram* before = LoweredOf(entry);
  return std::ranges::any_of(m.steps,
                             [&](uint32_t s) { return s - e.first_step < e.step_count; }) ||
         std::ranges::any_of(m.lowered,
                             [&](const auto& at) { return &lowered[at.first] == before; }) ||
         std::ranges::any_of(m.decisions, [&](size_t d) { return IsFor(decisions[d], entry); });
}

std::vector<std::string> Evidence::NodesOf(size_t entry) const {
  std::vector<std::string> names;
  for (const auto& [name, found] : mentions) {
    if (Knows(entry, name)) names.push_back(name);
  }
  return names;
}

namespace {

template <class T>
void Append(std::vector<T>& list, const T& value) {
  if (list.empty() || list.back() != value) list.push_back(value);
}

void Index(Evidence& evidence) {
  for (uint32_t s = 0; s < evidence.program->steps.size(); ++s) {
    for (const std::string& name : evidence.program->steps[s].sources) {
      Append(evidence.mentions[name].steps, s);
    }
  }
  for (size_t p = 0; p < evidence.lowered.size(); ++p) {
    for (size_t s = 0; s < evidence.lowered[p].steps.size(); ++s) {
      for (const std::string& name : evidence.lowered[p].steps[s].sources) {
        Append(evidence.mentions[name].lowered, {p, s});
      }
    }
  }
  for (size_t i = 0; i < evidence.decisions.size(); ++i) {
    const Decision& d = evidence.decisions[i];
    for (const auto* names : {&d.subject.nodes, &d.subject.into}) {
      for (const std::string& name : *names) Append(evidence.mentions[name].decisions, i);
    }
    for (const std::string& name : QuotedNames(d.choice)) {
      Append(evidence.mentions[name].decisions, i);
    }
  }
}

}  // namespace

Evidence GatherEvidence(const schema::Artifact& artifact) {
  Evidence out;
  out.program = &artifact.program();
  out.stripped = artifact.bytes(schema::SectionKind::kDecisions).empty();
  out.decisions =
      ReadDecisions(artifact.text(schema::SectionKind::kDecisions), artifact.program()).decisions;
  auto lowered = ReadLowered(artifact.text(schema::SectionKind::kLowered));
  if (lowered.ok()) {
    out.lowered = *std::move(lowered);
  } else {
    out.lowered_fault = lowered.status().message();
  }
  Index(out);
  return out;
}

}  // namespace aicf::tools
