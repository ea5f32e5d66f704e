// Decisions as lines of JSON, and back.
#include <algorithm>

#include "schema/decision_json.h"

namespace aicf::schema {

std::string ToJsonLine(const Decision& decision) {
  return ToJson(decision).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

Result<Decision> ParseDecision(std::string_view line) {
  const auto j = nlohmann::ordered_json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (j.is_discarded()) return Status(Code::kInvalidArgument, "it is no JSON");
  return DecisionFromJson(j);
}

DecisionLines ReadDecisionLines(std::string_view lines) {
  DecisionLines out;
  for (size_t number = 1; !lines.empty(); ++number) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    Result<Decision> decision = ParseDecision(line);
    if (decision.ok()) {
      out.decisions.push_back(*std::move(decision));
    } else {
      out.unread.push_back({number, decision.status().message()});
    }
  }
  return out;
}

Result<std::vector<Decision>> ParseDecisionLines(std::string_view lines) {
  DecisionLines read = ReadDecisionLines(lines);
  if (read.unread.empty()) return std::move(read.decisions);
  const DecisionLines::Unread& first = read.unread[0];
  return Error(Code::kInvalidArgument, "decisions, line ", first.line, ": ", first.why);
}

std::string ToJsonLines(const std::vector<Decision>& decisions) {
  std::string out;
  for (const Decision& d : decisions) out += ToJsonLine(d) + "\n";
  return out;
}

}  // namespace aicf::schema
