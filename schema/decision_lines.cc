// Decisions as lines of JSON, and back.
#include <algorithm>

#include "schema/decision_json.h"

namespace aicf::schema {

namespace {

using Json = nlohmann::ordered_json;

// Text that stands between quotes as it is.
bool IsPlain(char c) { return c >= 0x20 && c != '"' && c != '\\' && c != 0x7f; }

// Writes what ToJson(decision).dump() would, without the tree of objects between.
class LineWriter {
 public:
  explicit LineWriter(std::string& out) : out_(out) {}

  void Key(std::string_view key) {
    out_ += out_.back() == '{' ? "\"" : ",\"";
    out_ += key;
    out_ += "\":";
  }
  void Text(std::string_view text) {
    if (std::ranges::all_of(text, IsPlain)) {
      out_ += '"';
      out_ += text;
      out_ += '"';
    } else {
      out_ += Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
    }
  }
  void Field(std::string_view key, std::string_view text) {
    Key(key);
    Text(text);
  }
  void Cost(std::string_view key, double us) {
    if (!(us >= 0)) return;
    Key(key);
    out_ += Json(us).dump();
  }
  void Names(std::string_view key, const NodeNames& names) {
    if (names.empty()) return;
    Key(key);
    out_ += '[';
    for (const std::string& name : names) {
      if (out_.back() != '[') out_ += ',';
      Text(name);
    }
    out_ += ']';
  }
  void Object(const Alternative& a) {
    out_ += '{';
    Field("choice", a.choice);
    if (!a.refusal.empty()) Field("refusal", a.refusal);
    Cost("cost_us", a.cost_us);
    Cost("measured_us", a.measured_us);
    out_ += '}';
  }
  void Object(const Decision& d) {
    out_ += '{';
    Field("kind", KindName(d.kind));
    if (!d.subject.entry.empty()) Field("entry", d.subject.entry);
    Field("subject", ToString(d.subject));
    if (d.subject.step >= 0) {
      Key("step");
      out_ += std::to_string(d.subject.step);
    }
    Names("nodes", d.subject.nodes);
    Names("into", d.subject.into);
    Field("choice", d.choice);
    Field("reason", ReasonText(d));
    Field("pass", d.pass);
    Cost("cost_us", d.cost_us);
    Cost("measured_us", d.measured_us);
    Key("alternatives");
    out_ += '[';
    for (const Alternative& a : d.alternatives) {
      if (out_.back() != '[') out_ += ',';
      Object(a);
    }
    out_ += ']';
    out_ += '}';
  }

 private:
  std::string& out_;
};

}  // namespace

void AppendJsonLine(const Decision& decision, std::string& out) {
  LineWriter(out).Object(decision);
  out += '\n';
}

std::string ToJsonLine(const Decision& decision) {
  std::string line;
  LineWriter(line).Object(decision);
  return line;
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
  for (const Decision& d : decisions) AppendJsonLine(d, out);
  return out;
}

}  // namespace aicf::schema
