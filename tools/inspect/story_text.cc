#include <algorithm>
#include <set>

#include "tools/common/text.h"
#include "tools/inspect/arena.h"
#include "tools/inspect/names.h"
#include "tools/inspect/story.h"
#include "tools/inspect/wrap.h"

namespace aicf::tools {
namespace {

constexpr size_t kLabel = 24;
constexpr size_t kToldSteps = 4;  // most steps that are told of a node that became many

std::string Labelled(std::string_view label, std::string_view text) {
  std::string first = StrCat("  ", label);
  first += std::string(first.size() < kLabel ? kLabel - first.size() : 1, ' ');
  return Wrap(first, std::string(kLabel, ' '), text);
}

std::string Below(std::string_view text) {
  const std::string indent(kLabel, ' ');
  return Wrap(indent, indent + "  ", text);
}

std::string StoryGrounds(const Decision& d) {
  std::string out = Escape(ReasonText(d));
  const std::string cost = CostText(d.cost_us, d.measured_us);
  if (!cost.empty()) out += (out.empty() ? "" : ", ") + cost;
  return out;
}

std::string AlternativesText(const std::vector<Alternative>& alternatives) {
  std::string out;
  for (const std::string& line : AlternativeLines(alternatives)) out += Below(line);
  return out;
}

// What to know about the stories of a stripped artifact, which tell no reasons.
std::string StrippedText(const Evidence& evidence) {
  if (!evidence.stripped) return "";
  return Wrap("\n", "  ", StrCat("Without reasons: ", kStripped));
}

class Teller {
 public:
  Teller(const Evidence& evidence, const Story& story)
      : evidence_(evidence),
        story_(story),
        program_(*evidence.program),
        entry_(program_.entry_points[story.entry]) {}

  std::string ToText() {
    std::string out = Escape(story_.node);
    if (story_.node.empty()) out = StrCat("Step ", story_.step, " of ", program_.steps.size());
    out = Wrap("", "  ", StrCat(out, ": ", story_.fate));
    if (program_.entry_points.size() > 1) {
      out += Wrap("  ", "  ", StrCat("entry point ", Escape(entry_.name), OtherEntries()));
    }
    out += Section("In the graph", Stage::kGraph);
    out += Before();
    out += Section("Layout and copies while lowering", Stage::kLowering);
    out += Section("Fusion, precision and copies between steps", Stage::kSteps);
    for (size_t i = 0; i < std::min(kToldSteps, story_.steps.size()); ++i) {
      out += StepSection(story_.steps[i]);
    }
    if (story_.steps.size() > kToldSteps) {
      out += StrCat("\nand ", story_.steps.size() - kToldSteps,
                    " more steps: --explain=N tells theirs\n");
    }
    return out + StrippedText(evidence_);
  }

 private:
  std::string OtherEntries() const {
    std::vector<std::string> others;
    for (size_t e = 0; e < program_.entry_points.size() && !story_.node.empty(); ++e) {
      if (e != story_.entry && evidence_.Knows(e, story_.node)) {
        others.push_back(program_.entry_points[e].name);
      }
    }
    return others.empty() ? "" : StrCat("; --entry asks ", ShortList(others, 6));
  }

  std::string Section(std::string_view title, Stage stage) const {
    std::string out;
    std::set<std::string> told;  // a node with two results may have two equal decisions
    for (size_t i : story_.decisions) {
      const Decision& d = evidence_.decisions[i];
      if (StageOf(d) != stage) continue;
      const std::string text = d.IsEdge() ? EdgeText(d) : PlainText(d);
      if (told.insert(text).second) out += text;
    }
    return out.empty() ? "" : StrCat("\n", title, "\n", out);
  }

  static std::string PlainText(const Decision& d) {
    // Prints the subject instead of the node names, because it also has the op: Conv "a".
    std::string out = Labelled(Escape(d.pass.empty() ? KindName(d.kind) : d.pass),
                               StrCat(Escape(ToString(d.subject)), " -> ", Escape(d.choice)));
    const std::string reason = StoryGrounds(d);
    if (!reason.empty()) out += Below(reason);
    return out + AlternativesText(d.alternatives);
  }

  static std::string EdgeText(const Decision& d) {
    const std::string edge =
        StrCat("[", ShortList(d.subject.nodes), "] -> [", ShortList(d.subject.into), "]");
    if (d.choice != "separate") {
      return Labelled(StrCat("fused, ", KindName(d.kind)), StrCat(edge, ": ", Escape(d.choice))) +
             Below(StoryGrounds(d));
    }
    std::string out = Labelled("not fused", edge);
    for (const Alternative& a : d.alternatives) {
      if (!a.refusal.empty()) out += Below(Escape(a.refusal));
    }
    return out;
  }

  std::string Before() const {
    if (!evidence_.lowered_fault.empty()) {
      return Wrap("\n", "  ",
                  StrCat("The lowered section cannot be read: ", Escape(evidence_.lowered_fault)));
    }
    const RecordedProgram* before = evidence_.LoweredOf(story_.entry);
    if (before == nullptr || story_.lowered.empty()) return "";
    std::string out = StrCat("\nLowered to ", story_.lowered.size(),
                             story_.lowered.size() == 1 ? " step" : " steps", " before fusion\n");
    for (size_t s : story_.lowered) {
      const RecordedStep& step = before->steps[s];
      std::string text = StrCat("[", ShortList(step.sources), "]");
      for (const abi::View& v : step.problem.outputs) {
        text += StrCat(" -> ", DTypeName(v.dtype), " ", ToString(v.shape));
      }
      if (step.guarded) text += ", guarded";
      if (step.loop >= 0) text += StrCat(", in loop ", step.loop);
      out += Labelled(abi::FamilyName(step.problem.family), text);
    }
    return out;
  }

  std::string StepSection(uint32_t s) const {
    const schema::Step& step = program_.steps[s];
    std::string out =
        Wrap("\n", "  ",
             StrCat("Step ", s, ": ", Escape(step.kernel), ", from ", ShortList(step.sources, 8)));
    for (const Decision& d : evidence_.decisions) {
      if (d.subject.step != static_cast<int>(s) || !evidence_.IsFor(d, story_.entry)) continue;
      out += d.kind == DecisionKind::kKernel ? KernelText(d) : StepDecisionText(d);
    }
    const abi::Problem& p = step.problem;
    out += Labelled("arithmetic", StrCat(FormatNumber(abi::FlopCount(p) / 1e6), " MFLOP, ",
                                         FormatBytes(static_cast<uint64_t>(abi::ByteCount(p))),
                                         " moved, math ", abi::MathModeName(p.math)));
    if (!p.prologue.empty()) out += Labelled("prologue", Escape(ToString(p.prologue)));
    if (!p.epilogue.empty()) out += Labelled("epilogue", Escape(ToString(p.epilogue)));
    if (!p.score.empty()) out += Labelled("score", Escape(ToString(p.score)));
    return out + MemoryText(s) + OrderText(s);
  }

  // The text of a decision about a step's output names the output. It need not name the step, in
  // whose section it stands.
  static std::string StepDecisionText(const Decision& d) {
    const bool named = d.subject.form == schema::SubjectForm::kStepOutput;
    const std::string of = named ? StrCat("output '", Escape(d.subject.value), "': ") : "";
    return Labelled(KindName(d.kind), StrCat(of, Escape(d.choice), "  (", StoryGrounds(d), ")")) +
           AlternativesText(d.alternatives);
  }

  // Lists the legal alternatives, the cheapest first, and then why the others were refused.
  static std::string KernelText(const Decision& d) {
    std::string out = Labelled("kernel", StrCat(Escape(d.choice), "  (", StoryGrounds(d), ")"));
    std::vector<Alternative> all = d.alternatives;
    const auto time = [](const Alternative& a) {
      return a.measured_us >= 0 ? a.measured_us : a.cost_us >= 0 ? a.cost_us : 1e300;
    };
    std::ranges::stable_sort(all, [&](const auto& a, const auto& b) {
      if (a.refusal.empty() != b.refusal.empty()) return a.refusal.empty();
      return a.refusal.empty() && time(a) < time(b);
    });
    return out + AlternativesText(all);
  }

  std::string StepsText(const std::vector<uint32_t>& steps, std::string_view verb) const {
    if (steps.empty()) return "";
    std::vector<std::string> numbers;
    for (uint32_t s : steps) numbers.push_back(std::to_string(s));
    return StrCat(verb, steps.size() == 1 ? "step " : "steps ", ShortList(numbers, 6));
  }

  std::string BufferText(const BufferUse& use) const {
    const schema::Buffer& b = program_.buffers[use.buffer];
    std::string out = StrCat("'", Escape(b.name), "' ", DTypeName(b.dtype), " ", ToString(b.shape),
                             ", ", FormatBytes(b.bytes), ", ");
    if (b.role == schema::Role::kConstant) {
      return StrCat(out, "constant at weights +", b.offset);
    }
    out += b.role == schema::Role::kTemp ? "" : StrCat(schema::RoleName(b.role), ", ");
    out += b.storage == schema::Storage::kAlias
               ? StrCat("in place of '", Escape(program_.buffers[b.alias_of].name), "'")
               : StrCat(schema::IsState(b) ? "state block +" : "arena +", b.offset);
    out += StepsText(use.writers, "; written by ") + StepsText(use.readers, "; read by ");
    return out + LivesText(use.buffer);
  }

  std::string LivesText(uint32_t buffer) const {
    const auto lifetimes = schema::LifetimesOf(program_, story_.entry);
    if (!lifetimes.ok()) return "";
    for (const schema::Lifetime& l : *lifetimes) {
      if (std::ranges::find(l.buffers, buffer) == l.buffers.end()) continue;
      return StrCat("; its bytes are taken ", LifetimeText(l, entry_) == "always" ? "" : "in ",
                    LifetimeText(l, entry_));
    }
    return "";
  }

  std::string MemoryText(uint32_t s) const {
    const schema::Step& step = program_.steps[s];
    std::string out;
    for (const BufferUse& use : UsesOf(program_, story_.entry, step.inputs)) {
      out += Labelled("reads", BufferText(use));
    }
    for (const BufferUse& use : UsesOf(program_, story_.entry, step.outputs)) {
      out += Labelled("writes", BufferText(use));
    }
    if (step.workspace_bytes > 0) {
      out += Labelled("workspace", StrCat(FormatBytes(step.workspace_bytes), " at arena +",
                                          step.workspace_offset, " during the step"));
    }
    return out;
  }

  std::string Neighbour(uint32_t s) const {
    return StrCat("step ", s, " [", ShortList(program_.steps[s].sources), "]");
  }

  std::string OrderText(uint32_t s) const {
    const uint32_t end = entry_.first_step + entry_.step_count;
    std::string out = Labelled(
        "before it", s == entry_.first_step ? "nothing: it is the first" : Neighbour(s - 1));
    out += Labelled("after it", s + 1 == end ? "nothing: it is the last" : Neighbour(s + 1));
    const schema::Step& step = program_.steps[s];
    if (step.stream != 0) out += Labelled("stream", std::to_string(step.stream));
    for (uint32_t earlier : step.waits) {
      out += Labelled("waits for",
                      StrCat(Neighbour(earlier), " on stream ", program_.steps[earlier].stream));
    }
    if (step.programmatic) {
      out += Labelled("launch", "programmatic: while the stream's step before it still runs");
    }
    for (const schema::Guard& g : program_.steps[s].guards) {
      out += Labelled("runs only where", StrCat("'", Escape(program_.buffers[g.buffer].name),
                                                "' is ", g.expected ? "true" : "false"));
    }
    for (const schema::Loop& l : entry_.loops) {
      if (s - l.first_step >= l.step_count) continue;
      out += Labelled("repeats",
                      StrCat("with steps ", l.first_step, " to ", l.first_step + l.step_count - 1,
                             " while '", Escape(program_.buffers[l.condition].name), "' is true"));
    }
    return out;
  }

  const Evidence& evidence_;
  const Story& story_;
  const schema::Program& program_;
  const schema::EntryPoint& entry_;
};

}  // namespace

std::string StoryText(const Evidence& evidence, const Story& story) {
  return Teller(evidence, story).ToText();
}

std::string StoryListText(const Evidence& evidence, const std::vector<Story>& stories) {
  const schema::Program& program = *evidence.program;
  std::string out = StrCat(stories.size(), " nodes");
  if (program.entry_points.size() > 1) {
    out += StrCat(" of entry point ", Escape(program.entry_points[stories[0].entry].name));
  }
  out += "\n";
  for (const Story& s : stories) out += Wrap("  ", "      ", StrCat(Escape(s.node), ": ", s.fate));
  return out + StrippedText(evidence);
}

}  // namespace aicf::tools
