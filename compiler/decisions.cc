#include "compiler/decisions.h"

#include <charconv>
#include <nlohmann/json.hpp>

namespace aicf {

namespace {

// "step 3 [conv]" counted from the program's start.
void ShiftStep(std::string& subject, size_t first_step) {
  constexpr std::string_view kStep = "step ";
  if (!subject.starts_with(kStep)) return;
  const char* const begin = subject.data() + kStep.size();
  const char* const end = subject.data() + subject.size();
  size_t step = 0;
  const auto [stop, error] = std::from_chars(begin, end, step);
  if (error != std::errc()) return;
  subject.replace(kStep.size(), static_cast<size_t>(stop - begin),
                  std::to_string(step + first_step));
}

}  // namespace

void DecisionLog::Append(const DecisionLog& other, std::string_view entry, size_t first_step) {
  for (Decision d : other.decisions_) {
    d.entry = entry;
    ShiftStep(d.subject, first_step);
    decisions_.push_back(std::move(d));
  }
}

std::string DecisionLog::ToJsonLines() const {
  std::string out;
  for (const Decision& d : decisions_) {
    nlohmann::ordered_json j;
    j["kind"] = d.kind;
    if (!d.entry.empty()) j["entry"] = d.entry;
    j["subject"] = d.subject;
    j["choice"] = d.choice;
    j["reason"] = d.reason;
    j["pass"] = d.pass;
    if (d.cost_us >= 0) j["cost_us"] = d.cost_us;
    auto alternatives = nlohmann::ordered_json::array();
    for (const Alternative& a : d.alternatives) {
      nlohmann::ordered_json entry;
      entry["choice"] = a.choice;
      if (!a.refusal.empty()) entry["refusal"] = a.refusal;
      if (a.cost_us >= 0) entry["cost_us"] = a.cost_us;
      alternatives.push_back(std::move(entry));
    }
    j["alternatives"] = std::move(alternatives);
    out += j.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    out += '\n';
  }
  return out;
}

}  // namespace aicf
