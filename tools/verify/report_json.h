/// What verification found, as data for programs.
#pragma once

#include <nlohmann/json.hpp>

#include "aicf/aicf.h"
#include "tools/verify/verify_steps.h"

namespace aicf::tools {

using Json = nlohmann::ordered_json;

/// The number, or null for an infinity or NaN, which JSON does not have.
Json NumberOrNull(double value);

struct StepCounts {
  size_t compared = 0, failed = 0, skipped = 0, same = 0;
};
StepCounts CountSteps(const StepsReport& report);

/// {"atol": ..., "rtol": ..., "rel": ...}; only the members that are set.
Json ToleranceJson(const Tolerance& tolerance);

/// One object: `mode` ("steps"), `pass`, `compared`, `failed`, `skipped`, `first_failed` (a step's
/// number or null), and the lists `steps` and `outputs`.
Json StepsReportJson(const Program& program, const StepsReport& report);

}  // namespace aicf::tools
