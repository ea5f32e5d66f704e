#include "schema/decision_rules.h"

#include <algorithm>

namespace aicf::schema {

const std::vector<DecisionRule>& DecisionRules() {
  static const std::vector<DecisionRule> kRules = {
#define AICF_DECISION_RULE(id, name, means) {name, means},
#include "schema/decision_rules.def"
#undef AICF_DECISION_RULE
  };
  return kRules;
}

const DecisionRule* RuleOf(std::string_view refusal) {
  const size_t colon = refusal.find(": ");
  if (colon == std::string_view::npos || colon + 2 == refusal.size()) return nullptr;
  const auto found =
      std::ranges::find(DecisionRules(), refusal.substr(0, colon), &DecisionRule::name);
  return found == DecisionRules().end() ? nullptr : &*found;
}

}  // namespace aicf::schema
