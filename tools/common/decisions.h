/// The decisions section as aicf-inspect reads it: JSON lines, written by the compiler, possibly
/// edited.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "schema/program.h"

namespace aicf::tools {

using Json = nlohmann::ordered_json;

/// One element per line; a line that is no JSON object becomes {"kind": "unread", "subject":
/// line}.
std::vector<Json> ParseDecisions(std::string_view lines);

/// Whether the decision was made for the entry point, or for a program that has one only.
bool MadeFor(const Json& decision, std::string_view entry);

/// Whether the decision speaks of the step: it names the step's number or one of its source nodes.
bool Concerns(const Json& decision, uint32_t index, const schema::Step& step);

/// Decisions as indented text: subject, choice with reason and cost, every alternative with its
/// refusal or cost. Neighbours that differ in their subject only share one explanation.
std::string DecisionListText(const std::vector<const Json*>& decisions, std::string_view indent);

/// "Decisions (12: 8 kernel, 4 fusion)" and the list.
std::string DecisionsText(const std::vector<Json>& decisions);

/// "84 kernel, 20 fusion", in order of first appearance.
std::string CountsByKind(const std::vector<Json>& decisions);

}  // namespace aicf::tools
