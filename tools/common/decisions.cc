#include "tools/common/decisions.h"

#include <algorithm>

#include "schema/decision_json.h"
#include "tools/common/text.h"

namespace aicf::tools {
namespace {

bool Meet(const std::vector<std::string>& names, const std::vector<std::string>& sources) {
  return std::ranges::any_of(names, [&](const std::string& name) {
    return std::ranges::find(sources, name) != sources.end();
  });
}

/// Whether two decisions without alternatives differ in their subject only, so that one line can
/// explain both.
bool SameButSubject(const Decision& a, const Decision& b) {
  return a.alternatives.empty() && b.alternatives.empty() && a.kind == b.kind &&
         a.choice == b.choice && ReasonText(a) == ReasonText(b) && a.cost_us == b.cost_us &&
         a.measured_us == b.measured_us;
}

std::string EntryText(const Decision& decision) {
  const std::string& entry = decision.subject.entry;
  return entry.empty() ? "" : StrCat("  (entry ", Escape(entry), ")");
}

std::string ChoiceText(const Decision& decision, std::string_view indent) {
  std::string why = ReasonText(decision);
  const std::string cost = CostText(decision.cost_us, decision.measured_us);
  if (!cost.empty()) why += (why.empty() ? "" : ", ") + cost;
  const std::string choice = Escape(decision.choice);
  if (choice.empty() && why.empty()) return "";
  return StrCat(indent, "-> ", choice, why.empty() ? "\n" : StrCat("  (", Escape(why), ")\n"));
}

std::string AlternativesText(const Decision& decision, std::string_view indent) {
  std::string out;
  for (const std::string& line : AlternativeLines(decision.alternatives)) {
    out += StrCat(indent, "   ", line, "\n");
  }
  return out;
}

}  // namespace

DecisionLines ReadDecisions(std::string_view lines, const schema::Program& program) {
  DecisionLines read = schema::ReadDecisionLines(lines);
  for (Decision& d : read.decisions) {
    const int step = d.subject.step;
    if (step < 0 || !d.subject.nodes.empty()) continue;
    if (static_cast<size_t>(step) < program.steps.size()) {
      d.subject.nodes = program.steps[static_cast<size_t>(step)].sources;
    }
  }
  return read;
}

std::vector<std::string> QuotedNames(std::string_view text) {
  std::vector<std::string> names;
  for (size_t open = text.find('"'); open != std::string_view::npos; open = text.find('"', open)) {
    const size_t close = text.find('"', open + 1);
    if (close == std::string_view::npos) break;
    names.emplace_back(text.substr(open + 1, close - open - 1));
    open = close + 1;
  }
  return names;
}

bool MadeFor(const Decision& decision, std::string_view entry) {
  const std::string& own = decision.subject.entry;
  return own.empty() || own == entry;
}

bool Concerns(const Decision& decision, uint32_t index, const schema::Step& step) {
  const schema::Subject& s = decision.subject;
  // Another step's own decision may name the same source: a node can become several steps.
  if (s.step >= 0) return static_cast<uint32_t>(s.step) == index;
  return Meet(s.nodes, step.sources) || Meet(s.into, step.sources);
}

std::string CostText(double cost_us, double measured_us) {
  if (measured_us < 0) return cost_us < 0 ? "" : FormatNumber(cost_us) + " us";
  const std::string measured = FormatNumber(measured_us) + " us measured";
  return cost_us < 0 ? measured : StrCat(measured, ", ", FormatNumber(cost_us), " us predicted");
}

std::vector<std::string> AlternativeLines(const std::vector<Alternative>& alternatives) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < alternatives.size(); ++i) {
    const Alternative& first = alternatives[i];
    std::string choices = Escape(first.choice);
    while (!first.refusal.empty() && i + 1 < alternatives.size() &&
           alternatives[i + 1].refusal == first.refusal) {
      choices += ", " + Escape(alternatives[++i].choice);
    }
    std::string why = Escape(first.refusal);
    if (why.empty()) why = CostText(first.cost_us, first.measured_us);
    if (why.empty()) why = "legal too";
    lines.push_back(StrCat("not ", choices, ": ", why));
  }
  return lines;
}

std::string DecisionListText(const std::vector<const Decision*>& decisions,
                             std::string_view indent) {
  const std::string body = StrCat(indent, std::string(10, ' '));
  std::string out;
  for (size_t i = 0; i < decisions.size(); ++i) {
    const Decision& decision = *decisions[i];
    const bool continues = i > 0 && SameButSubject(*decisions[i - 1], decision);
    const std::string_view kind = KindName(decision.kind);
    const size_t pad = kind.size() < 10 ? 10 - kind.size() : 1;
    out += continues ? body : StrCat(indent, kind, std::string(pad, ' '));
    out += Escape(ToString(decision.subject)) + EntryText(decision) + "\n";
    if (i + 1 < decisions.size() && SameButSubject(decision, *decisions[i + 1])) continue;
    out += ChoiceText(decision, body) + AlternativesText(decision, body);
  }
  return out;
}

std::string DecisionsText(const DecisionLines& lines) {
  std::vector<const Decision*> all;
  all.reserve(lines.decisions.size());
  for (const Decision& decision : lines.decisions) all.push_back(&decision);
  std::string out =
      StrCat("Decisions (", all.size() + lines.unread.size(), ": ", CountsByKind(lines), ")\n") +
      DecisionListText(all, "  ");
  for (const DecisionLines::Unread& u : lines.unread) {
    out += StrCat("  unread    line ", u.line, ": ", Escape(u.why), "\n");
  }
  return out;
}

std::string CountsByKind(const DecisionLines& lines) {
  std::vector<std::pair<std::string_view, size_t>> counts;
  const auto add = [&](std::string_view kind, size_t count) {
    const auto known = std::ranges::find(counts, kind, [](const auto& c) { return c.first; });
    if (known != counts.end()) {
      known->second += count;
    } else if (count > 0) {
      counts.emplace_back(kind, count);
    }
  };
  for (const Decision& decision : lines.decisions) add(KindName(decision.kind), 1);
  add("unread", lines.unread.size());
  std::string out;
  for (const auto& [kind, count] : counts) {
    out += StrCat(out.empty() ? "" : ", ", count, " ", kind);
  }
  return out;
}

Json DecisionsJson(const std::vector<Decision>& decisions) {
  Json out = Json::array();
  for (const Decision& d : decisions) out.push_back(schema::ToJson(d));
  return out;
}

}  // namespace aicf::tools
