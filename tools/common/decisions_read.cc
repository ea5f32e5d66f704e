// From JSON lines to decisions. Nothing here trusts a line: any type may stand anywhere.
#include <charconv>

#include "tools/common/decisions.h"
#include "tools/common/text.h"

namespace aicf::tools {
namespace {

std::string Text(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

double Cost(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : kNoCost;
}

std::vector<std::string> Names(const Json& object, const char* key) {
  std::vector<std::string> names;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array()) return names;
  for (const Json& name : *found) {
    if (name.is_string()) names.push_back(name.get<std::string>());
  }
  return names;
}

// The number of "step 3 ..."; -1 without.
int64_t StepOf(std::string_view subject) {
  constexpr std::string_view kStep = "step ";
  if (!subject.starts_with(kStep)) return -1;
  subject.remove_prefix(kStep.size());
  int64_t step = -1;
  const auto [stop, error] = std::from_chars(subject.data(), subject.data() + subject.size(), step);
  return error == std::errc() && step >= 0 ? step : -1;
}

// The list between the first bracket and its end; `subject` goes on behind it.
std::vector<std::string> TakeBracketed(std::string_view& subject) {
  const size_t open = subject.find('[');
  const size_t close = open == std::string_view::npos ? open : subject.find(']', open);
  if (close == std::string_view::npos) {
    subject = {};
    return {};
  }
  std::string_view list = subject.substr(open + 1, close - open - 1);
  subject.remove_prefix(close + 1);
  std::vector<std::string> names;
  while (true) {
    const size_t comma = list.find(", ");
    if (!list.empty()) names.emplace_back(list.substr(0, comma));
    if (comma == std::string_view::npos) return names;
    list.remove_prefix(comma + 2);
  }
}

void ReadSubject(RecordedDecision& d) {
  if (d.step < 0) d.step = StepOf(d.subject);
  if (!d.nodes.empty() || !d.into.empty()) return;
  std::string_view rest = d.subject;
  d.nodes = TakeBracketed(rest);
  if (rest.starts_with(" -> [")) d.into = TakeBracketed(rest);
  if (d.nodes.empty()) d.nodes = QuotedNames(d.subject);
}

}  // namespace

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

RecordedDecision ReadDecision(const Json& decision) {
  RecordedDecision d;
  if (!decision.is_object()) return d;
  d.kind = Text(decision, "kind");
  d.entry = Text(decision, "entry");
  d.subject = Text(decision, "subject");
  d.choice = Text(decision, "choice");
  d.reason = Text(decision, "reason");
  d.pass = Text(decision, "pass");
  const auto step = decision.find("step");
  if (step != decision.end() && step->is_number_unsigned()) d.step = step->get<int64_t>();
  d.nodes = Names(decision, "nodes");
  d.into = Names(decision, "into");
  d.cost_us = Cost(decision, "cost_us");
  d.measured_us = Cost(decision, "measured_us");
  const auto alternatives = decision.find("alternatives");
  if (alternatives != decision.end() && alternatives->is_array()) {
    for (const Json& a : *alternatives) {
      if (!a.is_object()) continue;
      d.alternatives.push_back(
          {Text(a, "choice"), Text(a, "refusal"), Cost(a, "cost_us"), Cost(a, "measured_us")});
    }
  }
  ReadSubject(d);
  return d;
}

std::vector<RecordedDecision> ReadDecisions(const std::vector<Json>& decisions,
                                            const schema::Program& program) {
  std::vector<RecordedDecision> out;
  out.reserve(decisions.size());
  for (const Json& line : decisions) {
    RecordedDecision d = ReadDecision(line);
    const auto step = static_cast<uint64_t>(d.step);
    if (d.step >= 0 && d.nodes.empty() && step < program.steps.size()) {
      d.nodes = program.steps[step].sources;
    }
    out.push_back(std::move(d));
  }
  return out;
}

}  // namespace aicf::tools
