#include "compiler/decisions.h"

#include <nlohmann/json.hpp>

namespace aicf {

std::string DecisionLog::ToJsonLines() const {
  std::string out;
  for (const Decision& d : decisions_) {
    nlohmann::ordered_json j;
    j["kind"] = d.kind;
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
