/// Decisions (schema/decision.h) as the tools show them.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "schema/decision.h"
#include "schema/program.h"

namespace aicf::tools {

using Json = nlohmann::ordered_json;
using schema::Alternative;
using schema::Decision;
using schema::DecisionKind;
using schema::DecisionLines;

inline constexpr double kNoCost = -1;

/// Parses the decisions section. Where a decision about a step names no node, it gets the source
/// nodes that the step has in `program`.
DecisionLines ReadDecisions(std::string_view lines, const schema::Program& program);

/// The names between double quotes of a choice: "weights of Conv \"a\"" holds "a".
std::vector<std::string> QuotedNames(std::string_view text);

/// Whether the decision concerns the entry point: it was made for it, or it names no entry point
/// because the program has only one.
bool MadeFor(const Decision& decision, std::string_view entry);

/// Whether the decision speaks of the step: it names the step's number or one of its source nodes.
bool Concerns(const Decision& decision, uint32_t index, const schema::Step& step);

/// "2.500 us" for a predicted cost alone, "1.400 us measured", or both: "1.400 us measured, 2.500
/// us predicted". Empty without a cost.
std::string CostText(double cost_us, double measured_us);

/// Lines such as "not a, b: why". Consecutive alternatives that were refused for the same reason
/// share a line; a legal alternative has its cost in place of a refusal.
std::vector<std::string> AlternativeLines(const std::vector<Alternative>& alternatives);

/// Decisions as indented text: subject, choice with reason and cost, every alternative with its
/// refusal or cost. Consecutive decisions that differ only in their subject share one explanation.
std::string DecisionListText(const std::vector<const Decision*>& decisions,
                             std::string_view indent);

/// "Decisions (12: 8 kernel, 4 fusion)", the list, and the lines that could not be read.
std::string DecisionsText(const DecisionLines& lines);

/// "84 kernel, 20 fusion, 1 unread", in order of first appearance.
std::string CountsByKind(const DecisionLines& lines);

/// A list of objects with the keys of docs/decisions.md.
Json DecisionsJson(const std::vector<Decision>& decisions);

}  // namespace aicf::tools
