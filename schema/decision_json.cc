#include "schema/decision_json.h"

#include <algorithm>

#include "base/scanner.h"

namespace aicf::schema {
namespace {

using Json = nlohmann::ordered_json;

Json ToJson(const Alternative& a) {
  Json j;
  j["choice"] = a.choice;
  if (!a.refusal.empty()) j["refusal"] = a.refusal;
  if (a.cost_us >= 0) j["cost_us"] = a.cost_us;
  if (a.measured_us >= 0) j["measured_us"] = a.measured_us;
  return j;
}

// One JSON object on its way into a struct; remembers the first key that is not what it should be.
class Fields {
 public:
  explicit Fields(const Json& object) : object_(object) {}

  void Read(const char* key, std::string& out, bool required) {
    const Json* v = Find(key, required);
    if (v == nullptr) return;
    if (v->is_string())
      out = v->get<std::string>();
    else
      Fail(StrCat("'", key, "' is not a string"));
  }
  void Read(const char* key, double& out) {
    const Json* v = Find(key, false);
    if (v == nullptr) return;
    if (v->is_number())
      out = v->get<double>();
    else
      Fail(StrCat("'", key, "' is not a number"));
  }
  void Read(const char* key, int& out) {
    const Json* v = Find(key, false);
    if (v == nullptr) return;
    if (v->is_number_integer() && *v >= 0 && *v < INT32_MAX)
      out = v->get<int>();
    else
      Fail(StrCat("'", key, "' is not a small number"));
  }
  void Read(const char* key, NodeNames& out) {
    const Json* v = Find(key, false);
    if (v == nullptr) return;
    const auto is_string = [](const Json& item) { return item.is_string(); };
    if (!v->is_array() || !std::ranges::all_of(*v, is_string)) {
      return Fail(StrCat("'", key, "' is not a list of strings"));
    }
    out = v->get<NodeNames>();
  }
  void Fail(std::string why) {
    if (failure_.empty()) failure_ = std::move(why);
  }
  const std::string& failure() const { return failure_; }

 private:
  const Json* Find(const char* key, bool required) {
    const auto found = object_.find(key);
    if (found != object_.end()) return &*found;
    if (required) Fail(StrCat("'", key, "' is missing"));
    return nullptr;
  }

  const Json& object_;
  std::string failure_;
};

void ReadKind(Fields& fields, Decision& d) {
  std::string name;
  fields.Read("kind", name, true);
  const std::optional<DecisionKind> kind = ParseKind(name);
  if (!kind) return fields.Fail(StrCat("'kind' is ", Quote(name), ", expected ", KindList()));
  d.kind = *kind;
}

// "rule: sentence", or a name alone; absent in lines that a person writes.
void ReadReason(Fields& fields, Decision& d) {
  std::string text;
  fields.Read("reason", text, false);
  const size_t colon = std::min(text.find(": "), text.size());
  const std::optional<Reason> reason = ParseReason(std::string_view(text).substr(0, colon));
  if (!reason) {
    return fields.Fail(StrCat("'reason' is ", Quote(text), ", expected policy, measured, ",
                              "predicted, only-legal, tie-break or rule, and \": \" before more"));
  }
  d.Because(*reason, colon < text.size() ? text.substr(colon + 2) : "");
}

void ReadSubject(Fields& fields, Decision& d) {
  std::string text;
  Subject keys;
  fields.Read("entry", keys.entry, false);
  fields.Read("subject", text, true);
  fields.Read("step", keys.step);
  fields.Read("nodes", keys.nodes);
  fields.Read("into", keys.into);
  Result<Subject> subject = ParseSubject(text, std::move(keys));
  if (!subject.ok()) return fields.Fail(subject.status().message());
  d.subject = *std::move(subject);
}

void ReadAlternatives(const Json& object, Fields& fields, Decision& d) {
  const auto list = object.find("alternatives");
  if (list == object.end()) return;
  if (!list->is_array()) return fields.Fail("'alternatives' is no list");
  for (const Json& item : *list) {
    if (!item.is_object()) return fields.Fail("an alternative is no object");
    Alternative& a = d.alternatives.emplace_back();
    Fields own(item);
    own.Read("choice", a.choice, true);
    own.Read("refusal", a.refusal, false);
    own.Read("cost_us", a.cost_us);
    own.Read("measured_us", a.measured_us);
    if (!own.failure().empty()) fields.Fail(StrCat("an alternative: ", own.failure()));
  }
}

}  // namespace

Json ToJson(const Decision& d) {
  Json j;
  j["kind"] = KindName(d.kind);
  if (!d.subject.entry.empty()) j["entry"] = d.subject.entry;
  j["subject"] = ToString(d.subject);
  if (d.subject.step >= 0) j["step"] = d.subject.step;
  if (!d.subject.nodes.empty()) j["nodes"] = d.subject.nodes;
  if (!d.subject.into.empty()) j["into"] = d.subject.into;
  j["choice"] = d.choice;
  j["reason"] = ReasonText(d);
  j["pass"] = d.pass;
  if (d.cost_us >= 0) j["cost_us"] = d.cost_us;
  if (d.measured_us >= 0) j["measured_us"] = d.measured_us;
  auto alternatives = Json::array();
  for (const Alternative& a : d.alternatives) alternatives.push_back(ToJson(a));
  j["alternatives"] = std::move(alternatives);
  return j;
}

Result<Decision> DecisionFromJson(const Json& object) {
  if (!object.is_object()) return Status(Code::kInvalidArgument, "it is no JSON object");
  Decision d;
  Fields fields(object);
  ReadKind(fields, d);
  ReadSubject(fields, d);
  fields.Read("choice", d.choice, true);
  ReadReason(fields, d);
  fields.Read("pass", d.pass, false);
  fields.Read("cost_us", d.cost_us);
  fields.Read("measured_us", d.measured_us);
  ReadAlternatives(object, fields, d);
  if (!fields.failure().empty()) return Status(Code::kInvalidArgument, fields.failure());
  return d;
}

}  // namespace aicf::schema
