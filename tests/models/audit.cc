#include "tests/models/audit.h"

#include <algorithm>
#include <set>

#include "base/status.h"
#include "schema/decision_rules.h"

namespace aicf::testing {
namespace {

using schema::Decision;
using schema::DecisionKind;
using Names = std::vector<std::string>;

// Who tells why attention is no step.
constexpr std::string_view kAttentionPasses[] = {"infer-and-fold", "recognize-attention",
                                                 "split-attention"};

template <class List, class Value>
bool Has(const List& list, const Value& value) {
  return std::ranges::find(list, value) != std::ranges::end(list);
}

// A rule's name (schema/decision_rules.def), a colon, and at least three words.
bool NamesRule(const std::string& refusal) {
  if (schema::RuleOf(refusal) == nullptr) return false;
  const std::string sentence = refusal.substr(refusal.find(": ") + 2);
  return std::ranges::count(sentence, ' ') >= 2 || sentence.size() >= 12;
}

bool SaysNothing(const std::string& text) {
  return text.empty() || text.find("unknown") != std::string::npos;
}

std::string List(const Names& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return "[" + out + "]";
}

class Auditor {
 public:
  Auditor(const schema::Program& program, const std::vector<Decision>& decisions)
      : p_(program), decisions_(decisions) {}

  Violations Run() {
    for (const Decision& d : decisions_) CheckWords(d);
    for (const schema::EntryPoint& e : p_.entry_points) {
      const bool named = p_.entry_points.size() > 1;
      entry_ = named ? e.name : "";
      for (uint32_t s = e.first_step; s < e.first_step + e.step_count; ++s) CheckStep(s);
      CheckEdges(e);
      CheckGuards(e);
      CheckAttention(e);
    }
    return std::move(found_);
  }

 private:
  void Blame(const std::string& rule, const std::string& where) { found_[rule].push_back(where); }

  std::string Where(uint32_t s) const {
    return StrCat(entry_.empty() ? "" : entry_ + " ", "step ", s, " ", List(p_.steps[s].sources));
  }

  bool Here(const Decision& d) const { return entry_.empty() || d.subject.entry == entry_; }

  std::vector<const Decision*> About(DecisionKind kind, uint32_t s) const {
    std::vector<const Decision*> out;
    for (const Decision& d : decisions_) {
      if (d.kind == kind && d.subject.step == static_cast<int>(s) && Here(d)) out.push_back(&d);
    }
    return out;
  }

  void CheckWords(const Decision& d) {
    const std::string where = StrCat(KindName(d.kind), " ", ToString(d.subject), " -> ", d.choice,
                                     " (", ReasonText(d), ")");
    if (ToString(d.subject).empty()) Blame("no subject", where);
    if (d.subject.form == schema::SubjectForm::kOther) Blame("a subject of no form", where);
    if (SaysNothing(d.choice)) Blame("no choice", where);
    const bool rule = d.reason == schema::Reason::kRule;
    if (d.reason == schema::Reason::kNone || (rule && SaysNothing(d.sentence))) {
      Blame("no reason", where);
    }
    for (const schema::Alternative& a : d.alternatives) {
      if (SaysNothing(a.choice)) Blame("an alternative without a choice", where);
      if (a.refusal.find("unknown") != std::string::npos) Blame("a refusal that is none", where);
      if (!a.refusal.empty() && !NamesRule(a.refusal)) {
        Blame("a refusal without a rule's name", StrCat(where, ": ", a.refusal));
      }
    }
  }

  void CheckStep(uint32_t s) {
    const schema::Step& step = p_.steps[s];
    const auto kernels = About(DecisionKind::kKernel, s);
    if (kernels.size() != 1) {
      Blame(StrCat(kernels.size(), " kernel decisions"), Where(s));
    } else {
      CheckKernel(*kernels[0], step, s);
    }
    CheckParameters(step, s);
    CheckOrder(step, s);
    const auto precisions = About(DecisionKind::kPrecision, s);
    if (precisions.size() != 1) {
      Blame(StrCat(precisions.size(), " precision decisions"), Where(s));
    } else {
      CheckPrecision(*precisions[0], s);
    }
    const std::set<uint32_t> written(step.outputs.begin(), step.outputs.end());
    for (uint32_t b : written) CheckInPlace(s, b);
    if (step.problem.family == abi::Family::kCopy) CheckCopy(s);
  }

  void CheckKernel(const Decision& d, const schema::Step& step, uint32_t s) {
    if (d.choice != step.kernel) Blame("kernel decision for another kernel", Where(s));
    if (d.subject.nodes != step.sources) Blame("kernel decision with other nodes", Where(s));
    if (d.cost_us < 0 && d.measured_us < 0) Blame("chosen kernel without a cost", Where(s));
    for (const schema::Alternative& a : d.alternatives) {
      if (a.refusal.empty() && a.cost_us < 0 && a.measured_us < 0) {
        Blame("kernel neither refused nor costed", StrCat(Where(s), " ", a.choice));
      }
    }
  }

  void CheckParameters(const schema::Step& step, uint32_t s) {
    const auto decisions = About(DecisionKind::kParameters, s);
    if (decisions.size() != (step.parameters.empty() ? 0u : 1u)) {
      Blame(StrCat(decisions.size(), " decisions about parameters"), Where(s));
    } else if (!decisions.empty() && decisions[0]->choice != abi::ToString(step.parameters)) {
      Blame("parameters decision for other parameters", Where(s));
    }
  }

  // On a GPU: which stream, and how it is launched.
  void CheckOrder(const schema::Step& step, uint32_t s) {
    const bool device = p_.target.starts_with("cuda");
    const std::pair<DecisionKind, std::string> expected[] = {
        {DecisionKind::kStream, std::to_string(step.stream)},
        {DecisionKind::kLaunch, step.programmatic ? "programmatic" : "full"}};
    for (const auto& [kind, choice] : expected) {
      const auto decisions = About(kind, s);
      if (decisions.size() != (device ? 1u : 0u)) {
        Blame(StrCat(decisions.size(), " ", KindName(kind), " decisions"), Where(s));
      } else if (device && decisions[0]->choice != choice) {
        Blame(StrCat(KindName(kind), " decision for another choice"), Where(s));
      } else if (device && decisions[0]->alternatives.empty()) {
        Blame(StrCat(KindName(kind), " decision without an alternative"), Where(s));
      }
    }
  }

  void CheckPrecision(const Decision& d, uint32_t s) {
    if (!abi::ParseMathMode(d.choice)) Blame("precision that is no math mode", Where(s));
    for (const schema::Alternative& a : d.alternatives) {
      const bool costed = a.refusal.empty() && (a.cost_us >= 0 || a.measured_us >= 0);
      if (costed || NamesRule(a.refusal)) continue;
      Blame("precision without a condition", StrCat(Where(s), " ", a.choice, ": ", a.refusal));
    }
  }

  void CheckInPlace(uint32_t s, uint32_t buffer) {
    const schema::Buffer& b = p_.buffers[buffer];
    const std::string name = StrCat("'", b.name, "'");
    for (const Decision* d : About(DecisionKind::kInPlace, s)) {
      if (d->subject.value != b.name) continue;
      // Where it is so, the artifact has to say it too.
      const bool alias = b.storage == schema::Storage::kAlias;
      if (alias != d->choice.starts_with("overwrites ")) {
        Blame("in-place decision that is not the plan's", StrCat(Where(s), " ", name));
      }
      return;
    }
    // What a loop carries changes where it lies: that is its own decision.
    for (const Decision& d : decisions_) {
      if (d.kind != DecisionKind::kState || !Here(d)) continue;
      if (d.subject.value == b.name || d.subject.next == b.name) return;
    }
    Blame("no in-place decision", StrCat(Where(s), " ", name));
  }

  void CheckCopy(uint32_t s) {
    const Names& sources = p_.steps[s].sources;
    bool any = false;
    for (const Decision& d : decisions_) {
      if (d.kind != DecisionKind::kCopy || !Here(d) || d.subject.nodes != sources) continue;
      any = true;
      if (!d.sentence.empty()) return;
      for (const schema::Alternative& a : d.alternatives) {
        if (NamesRule(a.refusal)) return;
      }
    }
    Blame(any ? "copy without a condition" : "no copy decision", Where(s));
  }

  // What one side of a condition alone writes is read on that side, or by a step that selects by
  // it.
  void CheckGuards(const schema::EntryPoint& e) {
    std::map<uint32_t, const std::vector<schema::Guard>*> written;
    for (uint32_t s = e.first_step; s < e.first_step + e.step_count; ++s) {
      const schema::Step& step = p_.steps[s];
      for (uint32_t b : step.inputs) {
        const auto writer = written.find(b);
        if (writer == written.end()) continue;
        for (const schema::Guard& g : *writer->second) {
          if (Has(step.guards, g) || Has(step.inputs, g.buffer)) continue;
          Blame("a read of what may not have been written",
                StrCat(Where(s), " '", p_.buffers[b].name, "'"));
        }
      }
      for (uint32_t b : step.outputs) written[b] = &step.guards;
    }
  }

  // Pairs that need a decision: by data, and one after the other.
  std::set<std::pair<uint32_t, uint32_t>> EdgesOf(const schema::EntryPoint& e) const {
    std::set<std::pair<uint32_t, uint32_t>> edges;
    std::map<uint32_t, std::vector<uint32_t>> writers;
    for (uint32_t s = e.first_step; s < e.first_step + e.step_count; ++s) {
      if (s > e.first_step) edges.insert({s - 1, s});
      for (uint32_t b : p_.steps[s].inputs) {
        for (uint32_t w : writers[b]) edges.insert({w, s});
      }
      for (uint32_t b : p_.steps[s].outputs) writers[b].push_back(s);
    }
    return edges;
  }

  void CheckEdges(const schema::EntryPoint& e) {
    std::map<std::pair<Names, Names>, int> open;
    for (const Decision& d : decisions_) {
      if (!d.IsEdge() || !Here(d) || d.choice != "separate") continue;
      ++open[{d.subject.nodes, d.subject.into}];
      CheckRefusedEdge(d);
    }
    for (const auto& [from, to] : EdgesOf(e)) {
      int& left = open[{p_.steps[from].sources, p_.steps[to].sources}];
      // Several steps may come from the same nodes; each edge wants its own decision.
      if (left-- <= 0) {
        const bool data = ReadsFrom(from, to);
        Blame(data ? "no decision on an edge with data" : "no decision on two consecutive steps",
              StrCat(Where(from), " -> ", Where(to)));
      }
    }
  }

  bool ReadsFrom(uint32_t from, uint32_t to) const {
    return std::ranges::any_of(p_.steps[to].inputs,
                               [&](uint32_t b) { return Has32(p_.steps[from].outputs, b); });
  }
  static bool Has32(const std::vector<uint32_t>& list, uint32_t value) {
    return std::ranges::find(list, value) != list.end();
  }

  static bool TellsOfAttention(const Decision& d) {
    return d.kind == DecisionKind::kFusion && Has(kAttentionPasses, d.pass);
  }

  // A softmax between products of computed matrices: why it is no attention has to be told.
  void CheckAttention(const schema::EntryPoint& e) {
    for (const Decision& d : decisions_) {
      if (!TellsOfAttention(d)) continue;
      for (const schema::Alternative& a : d.alternatives) {
        if (NamesRule(a.refusal)) continue;
        Blame("attention refused without a listed condition",
              StrCat(ToString(d.subject), ": ", a.refusal));
      }
    }
    for (uint32_t s = e.first_step; s < e.first_step + e.step_count; ++s) {
      if (!IsSoftmax(p_.steps[s].problem) || IsToldOf(p_.steps[s].sources)) continue;
      bool before = false, after = false;
      for (uint32_t o = e.first_step; o < e.first_step + e.step_count; ++o) {
        if (!MultipliesComputed(p_.steps[o])) continue;
        before |= o < s && ReadsFrom(o, s);
        after |= o > s && ReadsFrom(s, o);
      }
      if (before && after) Blame("no decision on a softmax between products", Where(s));
    }
  }

  static bool IsSoftmax(const abi::Problem& p) {
    return p.family == abi::Family::kNormalize &&
           p.as<abi::NormalizeAttrs>().kind == abi::NormalizeKind::kSoftmax;
  }
  bool MultipliesComputed(const schema::Step& step) const {
    return step.problem.family == abi::Family::kGemm &&
           p_.buffers[step.inputs[1]].role != schema::Role::kConstant;
  }
  bool IsToldOf(const Names& sources) const {
    return std::ranges::any_of(decisions_, [&](const Decision& d) {
      if (!TellsOfAttention(d) || !Here(d)) return false;
      return std::ranges::any_of(sources, [&](const std::string& name) {
        return std::ranges::find(d.subject.nodes, name) != d.subject.nodes.end();
      });
    });
  }

  void CheckRefusedEdge(const Decision& d) {
    const std::string where = ToString(d.subject);
    if (d.alternatives.empty()) Blame("edge without a condition", where);
    for (const schema::Alternative& a : d.alternatives) {
      if (NamesRule(a.refusal)) continue;
      Blame("edge without a listed condition", StrCat(where, ": ", a.refusal));
    }
  }

  const schema::Program& p_;
  const std::vector<Decision>& decisions_;
  std::string entry_;
  Violations found_;
};

}  // namespace

Violations Audit(const schema::Program& program, const std::vector<Decision>& decisions) {
  return Auditor(program, decisions).Run();
}

std::string ToText(const Violations& violations) {
  constexpr size_t kShown = 3;
  std::string out;
  for (const auto& [rule, places] : violations) {
    out += StrCat("\n  ", places.size(), " x ", rule, ":");
    for (size_t i = 0; i < std::min(kShown, places.size()); ++i) out += "\n      " + places[i];
    if (places.size() > kShown) out += "\n      ...";
  }
  return out;
}

}  // namespace aicf::testing
