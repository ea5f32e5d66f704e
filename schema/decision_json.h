/// Decisions as JSON objects, for those that put them into a larger document. Lines:
/// schema/decision.h.
#pragma once

#include <nlohmann/json.hpp>

#include "schema/decision.h"

namespace aicf::schema {

/// Keys in a fixed order; what a decision does not say is left out.
nlohmann::ordered_json ToJson(const Decision& decision);
/// Errors: kInvalidArgument naming the key.
Result<Decision> DecisionFromJson(const nlohmann::ordered_json& object);

}  // namespace aicf::schema
