/// The decisions section as the tools read it: JSON lines, written by the compiler, possibly
/// edited, possibly by an older one.
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

inline constexpr double kNoCost = -1;

struct RecordedAlternative {
  std::string choice;
  std::string refusal;  ///< empty: it was legal
  double cost_us = kNoCost, measured_us = kNoCost;
};

/// A decision, read. What a line does not say, or says in another type, is empty.
struct RecordedDecision {
  std::string kind, entry, subject, choice, reason, pass;
  int64_t step = -1;               ///< of the plan; -1: not about one step
  std::vector<std::string> nodes;  ///< source nodes concerned; of an edge: the producer's
  std::vector<std::string> into;   ///< of an edge: the consumer's
  double cost_us = kNoCost, measured_us = kNoCost;
  std::vector<RecordedAlternative> alternatives;

  /// A fusion of any kind, done or refused, between two steps.
  bool IsEdge() const { return !into.empty(); }
};

/// Lines without `step`, `nodes` and `into` get them from the subject, as far as it says them:
/// "step 3 [a, b]", "[a] -> [b, c]", "Conv \"a\"", "'value' [a]".
RecordedDecision ReadDecision(const Json& decision);

/// All of them; a decision about a step that names no node gets the step's source nodes.
std::vector<RecordedDecision> ReadDecisions(const std::vector<Json>& decisions,
                                            const schema::Program& program);

/// The names between double quotes of a subject or a choice: "weights of Conv \"a\"" holds "a".
std::vector<std::string> QuotedNames(std::string_view text);

/// Whether the decision was made for the entry point, or for a program that has one only.
bool MadeFor(const Json& decision, std::string_view entry);

/// Whether the decision speaks of the step: it names the step's number or one of its source nodes.
bool Concerns(const Json& decision, uint32_t index, const schema::Step& step);

/// "2.500 us" for a predicted cost alone, "1.400 us measured", or both: "1.400 us measured, 2.500
/// us predicted". Empty without a cost.
std::string CostText(double cost_us, double measured_us);

/// "not a, b: why", one line for neighbours that were refused alike; a legal alternative has its
/// cost in place of a refusal.
std::vector<std::string> AlternativeLines(const std::vector<RecordedAlternative>& alternatives);

/// Decisions as indented text: subject, choice with reason and cost, every alternative with its
/// refusal or cost. Neighbours that differ in their subject only share one explanation.
std::string DecisionListText(const std::vector<const Json*>& decisions, std::string_view indent);

/// "Decisions (12: 8 kernel, 4 fusion)" and the list.
std::string DecisionsText(const std::vector<Json>& decisions);

/// "84 kernel, 20 fusion", in order of first appearance.
std::string CountsByKind(const std::vector<Json>& decisions);

}  // namespace aicf::tools
