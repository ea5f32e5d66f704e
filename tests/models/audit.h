/// Checks whether the decisions of a compiled program answer every question that can be asked about
/// it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "schema/program.h"
#include "tools/common/decisions.h"

namespace aicf::testing {

/// For each rule that is violated, the places where a decision is missing or says nothing, each
/// once.
using Violations = std::map<std::string, std::vector<std::string>>;

/// The rules, all checked at once:
///  - every step has one kernel decision, which chose the step's kernel, and one about precision;
///  - on a GPU, every step has a decision about its stream and one about its kind of launch; both
///    agree with the plan and name an alternative;
///  - every buffer that a step writes has an in-place decision;
///  - every two steps of which one reads what the other wrote, and every two that run one after the
///    other, have a decision on their edge: separate, because of a named condition;
///  - every copy that is left has a decision that says why;
///  - no decision is without subject, choice or reason; none is of an unknown kind; alternatives
///    were refused with a sentence or have a cost, or are legal without one where nothing is
///    costed.
Violations Audit(const schema::Program& program, const std::vector<schema::Decision>& decisions);

/// "12 x edge: [a] -> [b]; ...": all rules with counts and the first few places of each.
std::string ToText(const Violations& violations);

}  // namespace aicf::testing
