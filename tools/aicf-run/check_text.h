/// Comparisons of outputs as lines of text and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/aicf-run/tensors.h"

namespace aicf::tools {

/// "0.000123", "1.2e-05", "inf".
std::string ErrorText(double error);

/// "12 of 96 elements differ, worst at [3,17]: found 1.5, expected 0.5".
std::string WorstText(const Comparison& comparison, const Dims& shape);

/// One line per output: PASS or FAIL, its errors, and the worst element where it failed.
std::string CheckLines(const std::vector<CheckResult>& checks, const Tolerance& tolerance);
/// "PASSED: 2 of 2 outputs".
std::string OverallLine(const std::vector<CheckResult>& checks);
bool AllPass(const std::vector<CheckResult>& checks);
nlohmann::ordered_json ChecksJson(const std::vector<CheckResult>& checks);

}  // namespace aicf::tools
