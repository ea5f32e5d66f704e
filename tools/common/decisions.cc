#include "tools/common/decisions.h"

#include <algorithm>

#include "base/status.h"
#include "tools/common/text.h"

namespace aicf::tools {
namespace {

std::string Field(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return "";
  if (found->is_string()) return found->get<std::string>();
  return found->dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string Cost(const Json& object) {
  const RecordedDecision d = ReadDecision(object);
  return CostText(d.cost_us, d.measured_us);
}

bool Meet(const std::vector<std::string>& names, const std::vector<std::string>& sources) {
  return std::ranges::any_of(names, [&](const std::string& name) {
    return std::ranges::find(sources, name) != sources.end();
  });
}

/// Whether two decisions without alternatives differ in their subject only, so that one line can
/// explain both.
bool SameButSubject(const Json& a, const Json& b) {
  const auto plain = [](const Json& d) {
    const auto found = d.find("alternatives");
    return found == d.end() || found->empty();
  };
  for (const char* key : {"kind", "choice", "reason", "cost_us", "measured_us"}) {
    if (Field(a, key) != Field(b, key)) return false;
  }
  return plain(a) && plain(b);
}

std::string EntryText(const Json& decision) {
  const std::string entry = Field(decision, "entry");
  return entry.empty() ? "" : StrCat("  (entry ", Escape(entry), ")");
}

std::string ChoiceText(const Json& decision, std::string_view indent) {
  std::string why = Field(decision, "reason");
  const std::string cost = Cost(decision);
  if (!cost.empty()) why += (why.empty() ? "" : ", ") + cost;
  const std::string choice = Escape(Field(decision, "choice"));
  if (choice.empty() && why.empty()) return "";
  return StrCat(indent, "-> ", choice, why.empty() ? "\n" : StrCat("  (", Escape(why), ")\n"));
}

std::string AlternativesText(const Json& decision, std::string_view indent) {
  std::string out;
  for (const std::string& line : AlternativeLines(ReadDecision(decision).alternatives)) {
    out += StrCat(indent, "   ", line, "\n");
  }
  return out;
}

}  // namespace

std::vector<Json> ParseDecisions(std::string_view lines) {
  std::vector<Json> decisions;
  for (const std::string& line : Split(lines, '\n')) {
    if (line.empty()) continue;
    Json parsed = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!parsed.is_object()) parsed = Json{{"kind", "unread"}, {"subject", line}};
    decisions.push_back(std::move(parsed));
  }
  return decisions;
}

bool MadeFor(const Json& decision, std::string_view entry) {
  const std::string own = Field(decision, "entry");
  return own.empty() || own == entry;
}

bool Concerns(const Json& decision, uint32_t index, const schema::Step& step) {
  const RecordedDecision d = ReadDecision(decision);
  // Another step's own decision may name the same source: a node can become several steps.
  if (d.step >= 0) return d.step == index;
  return Meet(d.nodes, step.sources) || Meet(d.into, step.sources);
}

std::string CostText(double cost_us, double measured_us) {
  if (measured_us < 0) return cost_us < 0 ? "" : FormatNumber(cost_us) + " us";
  const std::string measured = FormatNumber(measured_us) + " us measured";
  return cost_us < 0 ? measured : StrCat(measured, ", ", FormatNumber(cost_us), " us predicted");
}

std::vector<std::string> AlternativeLines(const std::vector<RecordedAlternative>& alternatives) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < alternatives.size(); ++i) {
    const RecordedAlternative& first = alternatives[i];
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

std::string DecisionListText(const std::vector<const Json*>& decisions, std::string_view indent) {
  const std::string body = StrCat(indent, std::string(10, ' '));
  std::string out;
  for (size_t i = 0; i < decisions.size(); ++i) {
    const Json& decision = *decisions[i];
    const bool continues = i > 0 && SameButSubject(*decisions[i - 1], decision);
    const std::string kind = Field(decision, "kind");
    const size_t pad = kind.size() < 10 ? 10 - kind.size() : 1;
    out += continues ? body : StrCat(indent, Escape(kind), std::string(pad, ' '));
    out += Escape(Field(decision, "subject")) + EntryText(decision) + "\n";
    if (i + 1 < decisions.size() && SameButSubject(decision, *decisions[i + 1])) continue;
    out += ChoiceText(decision, body) + AlternativesText(decision, body);
  }
  return out;
}

std::string DecisionsText(const std::vector<Json>& decisions) {
  std::vector<const Json*> all;
  all.reserve(decisions.size());
  for (const Json& decision : decisions) all.push_back(&decision);
  return StrCat("Decisions (", decisions.size(), ": ", CountsByKind(decisions), ")\n") +
         DecisionListText(all, "  ");
}

std::string CountsByKind(const std::vector<Json>& decisions) {
  std::vector<std::pair<std::string, int>> counts;
  for (const Json& decision : decisions) {
    const std::string kind = Field(decision, "kind");
    const auto known = std::find_if(counts.begin(), counts.end(),
                                    [&](const auto& entry) { return entry.first == kind; });
    if (known == counts.end()) {
      counts.emplace_back(kind, 1);
    } else {
      ++known->second;
    }
  }
  std::string out;
  for (const auto& [kind, count] : counts) {
    out += StrCat(out.empty() ? "" : ", ", count, " ", Escape(kind));
  }
  return out;
}

}  // namespace aicf::tools
