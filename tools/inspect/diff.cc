#include "tools/inspect/diff.h"

#include <algorithm>
#include <map>
#include <span>

#include "tools/common/text.h"
#include "tools/inspect/provenance.h"

namespace aicf::tools {
namespace {

// The text without the numbers of steps. Refusals of older artifacts name steps by number, and two
// of them say the same even if the step has another number.
std::string WithoutStepNumbers(const std::string& text) {
  constexpr std::string_view kStep = "step ";
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    out += text[i];
    if (!out.ends_with(kStep)) continue;
    while (i + 1 < text.size() && text[i + 1] >= '0' && text[i + 1] <= '9') ++i;
  }
  return out;
}

// Decisions may be paired if their keys are equal, that is, if they are of one kind and about the
// same nodes. So a node that is a view in one program and a copy in the other is one difference.
std::string KeyOf(const Decision& d) {
  constexpr char kEnd = '\0';
  // Nodes do not suffice for in-place decisions, since a step may have several outputs, nor for
  // decisions that name no node, which only their subject's text tells apart.
  if (d.kind == DecisionKind::kInPlace || d.subject.nodes.empty()) return QuestionOf(d);
  std::string key = StrCat(d.IsEdge() ? "edge" : KindName(d.kind), kEnd, d.subject.entry, kEnd);
  for (const std::string& n : d.subject.nodes) key += n + kEnd;
  key += kEnd;
  for (const std::string& n : d.subject.into) key += n + kEnd;
  return key;
}

bool SameAlternatives(const Decision& a, const Decision& b) {
  return std::ranges::equal(a.alternatives, b.alternatives, [](const auto& x, const auto& y) {
    return x.choice == y.choice && x.cost_us == y.cost_us && x.measured_us == y.measured_us &&
           WithoutStepNumbers(x.refusal) == WithoutStepNumbers(y.refusal);
  });
}

bool SameGrounds(const Decision& a, const Decision& b) {
  return ReasonText(a) == ReasonText(b) && a.cost_us == b.cost_us &&
         a.measured_us == b.measured_us && SameAlternatives(a, b);
}

using Positions = std::vector<size_t>;

class Matcher {
 public:
  Matcher(const std::vector<Decision>& a, const std::vector<Decision>& b, Differences& out)
      : a_(a), b_(b), out_(out) {}

  void Run() {
    std::map<std::string, std::pair<Positions, Positions>> groups;
    for (size_t i = 0; i < a_.size(); ++i) groups[KeyOf(a_[i])].first.push_back(i);
    for (size_t i = 0; i < b_.size(); ++i) groups[KeyOf(b_[i])].second.push_back(i);
    for (auto& [key, group] : groups) {
      Pair(group.first, group.second, [&](size_t i, size_t j) {
        return a_[i].pass == b_[j].pass && QuestionOf(a_[i]) == QuestionOf(b_[j]);
      });
      Pair(group.first, group.second,
           [&](size_t i, size_t j) { return QuestionOf(a_[i]) == QuestionOf(b_[j]); });
      // If one is left on each side, they are about the same thing in the words of two versions.
      if (group.first.size() == 1 && group.second.size() == 1) {
        Pair(group.first, group.second,
             [&](size_t i, size_t j) { return a_[i].pass == b_[j].pass; });
      }
      out_.only_a.insert(out_.only_a.end(), group.first.begin(), group.first.end());
      out_.only_b.insert(out_.only_b.end(), group.second.begin(), group.second.end());
    }
    for (auto* list : {&out_.changed, &out_.restated}) std::ranges::sort(*list);
    for (auto* list : {&out_.only_a, &out_.only_b}) std::ranges::sort(*list);
  }

 private:
  // Judges the pairs that match, and removes them from both lists.
  template <class Match>
  void Pair(Positions& left, Positions& right, Match match) {
    Positions rest;
    for (size_t i : left) {
      const auto found = std::ranges::find_if(right, [&](size_t j) { return match(i, j); });
      if (found == right.end()) {
        rest.push_back(i);
        continue;
      }
      Judge(i, *found);
      right.erase(found);
    }
    left = std::move(rest);
  }

  void Judge(size_t i, size_t j) {
    if (a_[i].choice != b_[j].choice) {
      out_.changed.emplace_back(i, j);
    } else if (!SameGrounds(a_[i], b_[j])) {
      out_.restated.emplace_back(i, j);
    } else {
      ++out_.equal;
    }
  }

  const std::vector<Decision>& a_;
  const std::vector<Decision>& b_;
  Differences& out_;
};

// Whole-artifact facts in a fixed order, the options of both in the order in which they come.
class Header {
 public:
  explicit Header(std::vector<HeaderDifference>& out) : out_(out) {}

  void Run(const schema::Artifact& a, const schema::Artifact& b) {
    const schema::Program &p = a.program(), &q = b.program();
    Note("target", p.target, q.target);
    Note("math", std::string(abi::MathModeName(p.math)), std::string(abi::MathModeName(q.math)));
    Count("steps", p.steps.size(), q.steps.size());
    Note("entry points", Entries(p), Entries(q));
    Bytes("arena", p.arena_bytes, q.arena_bytes);
    Bytes("arena lower bound", p.arena_lower_bound, q.arena_lower_bound);
    Bytes("weights", p.weights_bytes, q.weights_bytes);
    Bytes("peak memory", a.header().peak_device_bytes, b.header().peak_device_bytes);
    Provenance(a.text(schema::SectionKind::kProvenance), b.text(schema::SectionKind::kProvenance));
  }

 private:
  void Note(std::string_view what, std::string a, std::string b) {
    if (a != b) out_.push_back({std::string(what), std::move(a), std::move(b)});
  }
  void Count(std::string_view what, uint64_t a, uint64_t b) {
    Note(what, std::to_string(a), std::to_string(b));
  }
  void Bytes(std::string_view what, uint64_t a, uint64_t b) {
    if (a == b) return;
    const auto text = [](uint64_t n) {
      return n < 1024 ? FormatBytes(n) : StrCat(FormatBytes(n), " (", n, ")");
    };
    Note(what, text(a), text(b));
  }

  static std::string Entries(const schema::Program& program) {
    std::vector<std::string> names;
    for (const schema::EntryPoint& e : program.entry_points) names.push_back(e.name);
    return Join(names, ", ");
  }

  static std::string ValueText(const Json& object, const std::string& key) {
    const auto found = object.find(key);
    return found == object.end() ? "" : ProvenanceText(*found);
  }

  void Provenance(std::string_view left, std::string_view right) {
    const Json a = Json::parse(left, nullptr, false), b = Json::parse(right, nullptr, false);
    const Json empty = Json::object();
    const Json& p = a.is_object() ? a : empty;
    const Json& q = b.is_object() ? b : empty;
    std::vector<std::string> keys;
    for (const Json* object : {&p, &q}) {
      for (const auto& [key, value] : object->items()) {
        if (std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
      }
    }
    for (const std::string& key : keys) {
      if (key == "target" || key == "math") continue;  // the program says them
      Note(key, ValueText(p, key), ValueText(q, key));
    }
  }

  std::vector<HeaderDifference>& out_;
};

struct SectionWord {
  schema::SectionKind kind;
  const char* word;
};

// Sections with data that no decision is about.
constexpr SectionWord kData[] = {
    {schema::SectionKind::kWeights, "hash of the weights"},
    {schema::SectionKind::kGolden, "hash of the golden samples"},
    {schema::SectionKind::kLanguage, "hash of the tokenizer and its numbers"},
};
// Sections that follow from the decisions. They are only compared if no other difference was found,
// which would explain theirs.
constexpr SectionWord kDerived[] = {
    {schema::SectionKind::kProgram, "hash of the program"},
    {schema::SectionKind::kImages, "hash of the device code"},
    {schema::SectionKind::kDecisions, "hash of the decisions"},
    {schema::SectionKind::kLowered, "hash of the lowered program"},
    {schema::SectionKind::kLoweredWeights, "hash of the lowered program's weights"},
};

void CompareHashes(std::span<const SectionWord> sections, const schema::HeaderInfo& a,
                   const schema::HeaderInfo& b, std::vector<HeaderDifference>& out) {
  const auto hash = [](const schema::HeaderInfo& header, schema::SectionKind kind) {
    for (const auto& s : header.sections) {
      if (s.kind == kind) return ToHex(s.hash);
    }
    return std::string();
  };
  for (const auto& [kind, word] : sections) {
    std::string left = hash(a, kind), right = hash(b, kind);
    if (left != right) out.push_back({word, std::move(left), std::move(right)});
  }
}

PlanCost CostOf(const DiffSide& side) {
  PlanCost cost;
  cost.steps = side.artifact->program().steps.size();
  for (const Decision& d : side.evidence->decisions) {
    if (d.kind != DecisionKind::kKernel || d.subject.step < 0)
      continue;  // without a number: the plan lost the step
    if (d.cost_us >= 0) {
      cost.predicted_us += d.cost_us;
      ++cost.predicted;
    }
    if (d.measured_us >= 0) {
      cost.measured_us += d.measured_us;
      ++cost.measured;
    }
  }
  return cost;
}

}  // namespace

Differences Compare(const DiffSide& a, const DiffSide& b) {
  Differences out;
  Header(out.header).Run(*a.artifact, *b.artifact);
  const schema::HeaderInfo &left = a.artifact->header(), &right = b.artifact->header();
  CompareHashes(kData, left, right, out.header);
  Matcher(a.evidence->decisions, b.evidence->decisions, out).Run();
  if (out.empty()) CompareHashes(kDerived, left, right, out.header);
  out.cost_a = CostOf(a);
  out.cost_b = CostOf(b);
  return out;
}

std::string DiffSummary(const Differences& d) {
  std::string out;
  const auto add = [&](size_t count, std::string_view what) {
    if (count > 0) out += StrCat(out.empty() ? "" : ", ", count, " ", what);
  };
  add(d.changed.size(), d.changed.size() == 1 ? "decision changed" : "decisions changed");
  add(d.only_a.size(), "only in A");
  add(d.only_b.size(), "only in B");
  add(d.restated.size(), "with other grounds");
  add(d.header.size(), d.header.size() == 1 ? "fact of the header" : "facts of the header");
  return out.empty() ? "no differences" : out;
}

}  // namespace aicf::tools
