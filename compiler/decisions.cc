#include "compiler/decisions.h"

#include <charconv>
#include <nlohmann/json.hpp>

#include "kernels/abi/kernel.h"

namespace aicf {

namespace {

using Json = nlohmann::ordered_json;

// Where the number of "step 3 [conv]" lies; empty for another subject.
std::string_view StepNumber(std::string_view subject) {
  constexpr std::string_view kStep = "step ";
  if (!subject.starts_with(kStep)) return {};
  subject.remove_prefix(kStep.size());
  size_t digits = 0;
  while (digits < subject.size() && subject[digits] >= '0' && subject[digits] <= '9') ++digits;
  return subject.substr(0, digits);
}

// "step 3 [conv]" as "step 2 [conv]", or "step  [conv]" for a number of none.
void Renumber(std::string& subject, int number) {
  const std::string_view old = StepNumber(subject);
  if (old.empty()) return;
  subject.replace(static_cast<size_t>(old.data() - subject.data()), old.size(),
                  number < 0 ? "" : std::to_string(number));
}

// "step 3 [conv]" counted from the program's start.
void ShiftStep(std::string& subject, size_t first_step) {
  const std::string_view number = StepNumber(subject);
  size_t step = 0;
  const auto [stop, error] = std::from_chars(number.data(), number.data() + number.size(), step);
  if (number.empty() || error != std::errc()) return;
  const auto at = static_cast<size_t>(number.data() - subject.data());
  subject.replace(at, number.size(), std::to_string(step + first_step));
}

Json ToJson(const Alternative& a) {
  Json j;
  j["choice"] = a.choice;
  if (!a.refusal.empty()) j["refusal"] = a.refusal;
  if (a.cost_us >= 0) j["cost_us"] = a.cost_us;
  if (a.measured_us >= 0) j["measured_us"] = a.measured_us;
  return j;
}

Json ToJson(const Decision& d) {
  Json j;
  j["kind"] = d.kind;
  if (!d.entry.empty()) j["entry"] = d.entry;
  j["subject"] = d.subject;
  if (d.step >= 0) j["step"] = d.step;
  if (!d.nodes.empty()) j["nodes"] = d.nodes;
  if (!d.into.empty()) j["into"] = d.into;
  j["choice"] = d.choice;
  j["reason"] = d.reason;
  j["pass"] = d.pass;
  if (d.cost_us >= 0) j["cost_us"] = d.cost_us;
  if (d.measured_us >= 0) j["measured_us"] = d.measured_us;
  auto alternatives = Json::array();
  for (const Alternative& a : d.alternatives) alternatives.push_back(ToJson(a));
  j["alternatives"] = std::move(alternatives);
  return j;
}

// One JSON object on its way into a struct; remembers the first key that is not what it should be.
class Fields {
 public:
  explicit Fields(const Json& object) : object_(object) {}

  void Read(const char* key, std::string& out, bool required = true) {
    const Json* v = Find(key, required);
    if (v == nullptr) return;
    if (v->is_string())
      out = v->get<std::string>();
    else
      Fail(key, "a string");
  }
  void Read(const char* key, double& out) {
    const Json* v = Find(key, false);
    if (v == nullptr) return;
    if (v->is_number())
      out = v->get<double>();
    else
      Fail(key, "a number");
  }
  void Read(const char* key, int& out) {
    const Json* v = Find(key, false);
    if (v == nullptr) return;
    if (v->is_number_integer() && *v >= 0 && *v < INT32_MAX)
      out = v->get<int>();
    else
      Fail(key, "a small number");
  }
  void Read(const char* key, std::vector<std::string>& out) {
    const Json* v = Find(key, false);
    if (v == nullptr) return;
    if (!v->is_array()) return Fail(key, "a list of strings");
    for (const Json& item : *v) {
      if (!item.is_string()) return Fail(key, "a list of strings");
      out.push_back(item.get<std::string>());
    }
  }
  void Fail(std::string_view key, std::string_view expected) {
    if (failure_.empty()) failure_ = StrCat("'", key, "' is not ", expected);
  }
  const std::string& failure() const { return failure_; }

 private:
  const Json* Find(const char* key, bool required) {
    const auto found = object_.find(key);
    if (found != object_.end()) return &*found;
    if (required && failure_.empty()) failure_ = StrCat("'", key, "' is missing");
    return nullptr;
  }

  const Json& object_;
  std::string failure_;
};

std::string Read(const Json& j, Alternative& a) {
  if (!j.is_object()) return "an alternative is no object";
  Fields fields(j);
  fields.Read("choice", a.choice);
  fields.Read("refusal", a.refusal, false);
  fields.Read("cost_us", a.cost_us);
  fields.Read("measured_us", a.measured_us);
  return fields.failure();
}

std::string Read(const Json& j, Decision& d) {
  if (!j.is_object()) return "it is no JSON object";
  Fields fields(j);
  fields.Read("kind", d.kind);
  fields.Read("entry", d.entry, false);
  fields.Read("subject", d.subject);
  fields.Read("step", d.step);
  fields.Read("nodes", d.nodes);
  fields.Read("into", d.into);
  fields.Read("choice", d.choice);
  fields.Read("reason", d.reason, false);
  fields.Read("pass", d.pass, false);
  fields.Read("cost_us", d.cost_us);
  fields.Read("measured_us", d.measured_us);
  const auto alternatives = j.find("alternatives");
  if (alternatives == j.end()) return fields.failure();
  if (!alternatives->is_array()) return "'alternatives' is no list";
  for (const Json& item : *alternatives) {
    const std::string failure = Read(item, d.alternatives.emplace_back());
    if (!failure.empty()) return failure;
  }
  return fields.failure();
}

// Steps of one node can be of several families; the kernels tell which, also where the choice was
// changed to something that is none.
std::string_view FamilyOf(const Decision& d) {
  if (d.kind != "kernel") return {};
  const abi::KernelInfo* kernel = abi::FindKernel(d.choice);
  for (const Alternative& a : d.alternatives) {
    if (kernel == nullptr) kernel = abi::FindKernel(a.choice);
  }
  return kernel == nullptr ? std::string_view() : abi::FamilyName(kernel->family);
}

}  // namespace

std::string IdentityOf(const Decision& decision) {
  std::string subject = decision.subject;
  const std::string_view number = StepNumber(subject);
  if (!number.empty()) {
    subject.erase(static_cast<size_t>(number.data() - subject.data()), number.size());
  }
  return StrCat(decision.kind, "\n", decision.entry, "\n", subject, "\n", FamilyOf(decision));
}

void DecisionLog::Append(const DecisionLog& other) {
  decisions_.insert(decisions_.end(), other.decisions_.begin(), other.decisions_.end());
}

void DecisionLog::Append(const DecisionLog& other, std::string_view entry, size_t first_step) {
  for (Decision d : other.decisions_) {
    d.entry = entry;
    ShiftStep(d.subject, first_step);
    if (d.step >= 0) d.step += static_cast<int>(first_step);
    decisions_.push_back(std::move(d));
  }
}

void DecisionLog::RemoveSteps(const std::vector<bool>& gone) {
  std::vector<int> number(gone.size(), -1);
  int next = 0;
  for (size_t s = 0; s < gone.size(); ++s) {
    if (!gone[s]) number[s] = next++;
  }
  for (Decision& d : decisions_) {
    if (d.step < 0 || static_cast<size_t>(d.step) >= gone.size()) continue;
    d.step = number[static_cast<size_t>(d.step)];
    Renumber(d.subject, d.step);
  }
}

std::string DecisionLog::ToJsonLines() const {
  std::string out;
  for (const Decision& d : decisions_) {
    out += ToJson(d).dump(-1, ' ', false, Json::error_handler_t::replace);
    out += '\n';
  }
  return out;
}

Result<DecisionLog> DecisionLog::Parse(std::string_view lines) {
  DecisionLog log;
  for (size_t number = 1; !lines.empty(); ++number) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const Json j = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    Decision d;
    const std::string failure = j.is_discarded() ? "it is no JSON" : Read(j, d);
    if (!failure.empty()) {
      return Error(Code::kInvalidArgument, "decisions, line ", number, ": ", failure);
    }
    log.Record(std::move(d));
  }
  return log;
}

}  // namespace aicf
