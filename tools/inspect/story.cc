#include "tools/inspect/story.h"

#include <algorithm>
#include <set>

#include "tools/common/flags.h"
#include "tools/common/text.h"
#include "tools/inspect/names.h"

namespace aicf::tools {
namespace {

bool Has(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

bool IsWithin(const std::vector<std::string>& names, const std::vector<std::string>& all) {
  return std::ranges::all_of(names, [&](const std::string& n) { return Has(all, n); });
}

// Whether a decision about an edge belongs to the step made from `sources`, and not to another step
// that shares a source with it. An edge that was fused lies within the step; one that was not fused
// has the step at one of its ends.
bool IsEdgeOf(const Decision& d, const std::vector<std::string>& sources) {
  if (d.choice == "separate") return d.subject.nodes == sources || d.subject.into == sources;
  return IsWithin(d.subject.nodes, sources) && IsWithin(d.subject.into, sources);
}

// Adds to the story the steps before fusion that came from any of the names, and the decisions
// about these names that were made before the plan.
void Collect(const Evidence& evidence, const std::vector<std::string>& names, Story& story) {
  std::set<size_t> decisions, lowered;
  const RecordedProgram* before = evidence.LoweredOf(story.entry);
  for (const std::string& name : names) {
    const auto found = evidence.mentions.find(name);
    if (found == evidence.mentions.end()) continue;
    decisions.insert(found->second.decisions.begin(), found->second.decisions.end());
    for (const auto& [program, step] : found->second.lowered) {
      if (&evidence.lowered[program] == before) lowered.insert(step);
    }
  }
  story.lowered.assign(lowered.begin(), lowered.end());
  for (size_t i : decisions) {
    const Decision& d = evidence.decisions[i];
    if (!evidence.IsFor(d, story.entry) || StageOf(d) == Stage::kPlan) continue;
    if (story.node.empty() && d.IsEdge() && !IsEdgeOf(d, names)) continue;
    story.decisions.push_back(i);
  }
}

std::vector<uint32_t> StepsOf(const Evidence& evidence, size_t entry, const std::string& node) {
  const auto found = evidence.mentions.find(node);
  if (found == evidence.mentions.end()) return {};
  std::vector<uint32_t> steps = found->second.steps;
  const schema::EntryPoint& e = evidence.program->entry_points[entry];
  std::erase_if(steps, [&](uint32_t s) { return s - e.first_step >= e.step_count; });
  return steps;
}

std::string StepList(const std::vector<uint32_t>& steps) {
  std::vector<std::string> numbers;
  for (uint32_t s : steps) numbers.push_back(std::to_string(s));
  return StrCat(steps.size() == 1 ? "step " : "steps ", ShortList(numbers, 8));
}

std::string FateInSteps(const Evidence& evidence, const Story& story) {
  if (story.steps.size() > 1) {
    return StrCat("in ", story.steps.size(), " steps of the plan: ",
                  StepList(story.steps).substr(std::string_view("steps ").size()));
  }
  const schema::Step& step = evidence.program->steps[story.steps[0]];
  std::string out = StrCat("in step ", story.steps[0], ", ", Escape(step.kernel));
  const size_t others = step.sources.size() - 1;
  if (others > 0) out += StrCat(", with ", others, others == 1 ? " other node" : " other nodes");
  return out;
}

// The last decision that took the node away. A removal as dead code only counts if there is no
// other decision, because it merely follows from that one.
const Decision* LastAbout(const Evidence& evidence, const Story& story) {
  const Decision* dead = nullptr;
  for (auto i = story.decisions.rbegin(); i != story.decisions.rend(); ++i) {
    const Decision& d = evidence.decisions[*i];
    if (d.choice == "separate" || !Has(d.subject.nodes, story.node)) continue;
    if (d.pass != "eliminate-dead-code") return &d;
    if (dead == nullptr) dead = &d;
  }
  return dead;
}

// In which steps another node that the decision names ended up, for the first such node that did.
std::string Successor(const Evidence& evidence, const Story& story, const Decision& d) {
  std::vector<std::string> others = QuotedNames(d.choice);
  others.insert(others.end(), d.subject.into.begin(), d.subject.into.end());
  others.insert(others.end(), d.subject.nodes.rbegin(), d.subject.nodes.rend());
  for (const std::string& other : others) {
    if (other == story.node) continue;
    const std::vector<uint32_t> steps = StepsOf(evidence, story.entry, other);
    if (!steps.empty()) return StrCat("; ", Escape(other), " is in ", StepList(steps));
  }
  return "";
}

std::string FateOutsideSteps(const Evidence& evidence, const Story& story) {
  const Decision* d = LastAbout(evidence, story);
  if (d == nullptr) return "no step of the plan, and no decision says what became of it";
  std::string what = StrCat("no step of its own: ", Escape(d->choice));
  if (d->choice == "constant") what = "folded to a constant";
  if (d->choice == "view") what = "a view of its operand's bytes, no step";
  if (d->choice == "removed") what = "removed";
  const std::string why = Escape(d->reason == schema::Reason::kRule ? d->sentence : ReasonText(*d));
  if (!why.empty()) what += StrCat(" (", why, ")");
  return what + Successor(evidence, story, *d);
}

}  // namespace

Story StoryOfStep(const Evidence& evidence, uint32_t step) {
  Story story;
  story.step = step;
  story.entry = evidence.EntryOf(step);
  story.steps = {step};
  const std::vector<std::string>& sources = evidence.program->steps[step].sources;
  Collect(evidence, sources, story);
  story.fate = StrCat(Escape(evidence.program->steps[step].kernel), ", from ", ShortList(sources));
  return story;
}

Story StoryOfNode(const Evidence& evidence, size_t entry, const std::string& node) {
  Story story;
  story.node = node;
  story.entry = entry;
  story.steps = StepsOf(evidence, entry, node);
  Collect(evidence, {node}, story);
  story.fate =
      story.steps.empty() ? FateOutsideSteps(evidence, story) : FateInSteps(evidence, story);
  return story;
}

std::vector<BufferUse> UsesOf(const schema::Program& program, size_t entry,
                              const std::vector<uint32_t>& buffers) {
  std::vector<BufferUse> uses;
  const auto use = [&](uint32_t buffer) -> BufferUse* {
    for (BufferUse& u : uses) {
      if (u.buffer == buffer) return &u;
    }
    return nullptr;
  };
  for (uint32_t b : buffers) {
    if (use(b) == nullptr) uses.push_back({b, {}, {}});
  }
  const auto note = [](std::vector<uint32_t>& steps, uint32_t s) {
    if (steps.empty() || steps.back() != s) steps.push_back(s);
  };
  const schema::EntryPoint& e = program.entry_points[entry];
  for (uint32_t s = e.first_step; s < e.first_step + e.step_count; ++s) {
    const schema::Step& step = program.steps[s];
    for (uint32_t b : step.outputs) {
      if (BufferUse* u = use(b)) note(u->writers, s);
    }
    for (uint32_t b : step.inputs) {
      if (BufferUse* u = use(b)) note(u->readers, s);
    }
    for (const schema::Guard& g : step.guards) {
      if (BufferUse* u = use(g.buffer)) note(u->readers, s);
    }
  }
  return uses;
}

}  // namespace aicf::tools
