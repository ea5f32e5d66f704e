#include "tools/inspect/story.h"

#include <algorithm>

#include "tools/common/flags.h"
#include "tools/common/text.h"
#include "tools/inspect/names.h"

namespace aicf::tools {
namespace {

bool Has(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

bool HasAny(const std::vector<std::string>& names, const std::vector<std::string>& wanted) {
  return std::ranges::any_of(wanted, [&](const std::string& w) { return Has(names, w); });
}

// What came from any of the names, before fusion and in the plan, and the decisions about them.
void Collect(const Evidence& evidence, const std::vector<std::string>& names, Story& story) {
  if (const RecordedProgram* before = evidence.LoweredOf(story.entry)) {
    for (size_t s = 0; s < before->steps.size(); ++s) {
      if (HasAny(before->steps[s].sources, names)) story.lowered.push_back(s);
    }
  }
  for (size_t i = 0; i < evidence.decisions.size(); ++i) {
    const RecordedDecision& d = evidence.decisions[i];
    if (!evidence.IsFor(d, story.entry) || StageOf(d) == Stage::kPlan) continue;
    if (HasAny(d.nodes, names) || HasAny(d.into, names) || HasAny(QuotedNames(d.choice), names)) {
      story.decisions.push_back(i);
    }
  }
}

std::vector<uint32_t> StepsOf(const Evidence& evidence, size_t entry, const std::string& node) {
  std::vector<uint32_t> steps;
  const schema::EntryPoint& e = evidence.program->entry_points[entry];
  for (uint32_t s = e.first_step; s < e.first_step + e.step_count; ++s) {
    if (Has(evidence.program->steps[s].sources, node)) steps.push_back(s);
  }
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

// The last decision that took the node away. That nothing reads its result any more follows from
// another, where there is one.
const RecordedDecision* LastAbout(const Evidence& evidence, const Story& story) {
  const RecordedDecision* dead = nullptr;
  for (auto i = story.decisions.rbegin(); i != story.decisions.rend(); ++i) {
    const RecordedDecision& d = evidence.decisions[*i];
    if (d.choice == "separate" || !Has(d.nodes, story.node)) continue;
    if (d.pass != "eliminate-dead-code") return &d;
    if (dead == nullptr) dead = &d;
  }
  return dead;
}

std::string_view WithoutRule(std::string_view reason) {
  constexpr std::string_view kRule = "rule: ";
  if (reason.starts_with(kRule)) reason.remove_prefix(kRule.size());
  return reason;
}

// Where the nodes that a decision names beside this one ended.
std::string Successor(const Evidence& evidence, const Story& story, const RecordedDecision& d) {
  std::vector<std::string> others = QuotedNames(d.choice);
  others.insert(others.end(), d.into.begin(), d.into.end());
  others.insert(others.end(), d.nodes.rbegin(), d.nodes.rend());
  for (const std::string& other : others) {
    if (other == story.node) continue;
    const std::vector<uint32_t> steps = StepsOf(evidence, story.entry, other);
    if (!steps.empty()) return StrCat("; ", Escape(other), " is in ", StepList(steps));
  }
  return "";
}

std::string FateOutsideSteps(const Evidence& evidence, const Story& story) {
  const RecordedDecision* d = LastAbout(evidence, story);
  if (d == nullptr) return "no step of the plan, and no decision says what became of it";
  std::string what = StrCat("no step of its own: ", Escape(d->choice));
  if (d->choice == "constant") what = "folded to a constant";
  if (d->choice == "view") what = "a view of its operand's bytes, no step";
  if (d->choice == "removed") what = "removed";
  const std::string why = Escape(WithoutRule(d->reason));
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
