/// The names with which refusals begin: schema/decision_rules.def. Pure and thread safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace aicf::schema {

struct DecisionRule {
  std::string_view name;   ///< "single-use"
  std::string_view means;  ///< one line for people
};

/// All rules, by name.
const std::vector<DecisionRule>& DecisionRules();

/// The rule of "name: sentence"; nullptr for a refusal that begins with no name of a rule, or has
/// no sentence after it.
const DecisionRule* RuleOf(std::string_view refusal);

}  // namespace aicf::schema
