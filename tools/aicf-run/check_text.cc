#include "tools/aicf-run/check_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tools/common/text.h"
#include "tools/verify/report_json.h"

namespace aicf::tools {

using Json = nlohmann::ordered_json;

std::string ErrorText(double error) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", error);
  return text;
}

std::string WorstText(const Comparison& c, const Dims& shape) {
  char got[32], expected[32];  // enough digits to tell neighbours apart
  std::snprintf(got, sizeof got, "%.9g", c.got);
  std::snprintf(expected, sizeof expected, "%.9g", c.expected);
  return StrCat(c.mismatches, " of ", c.elements, " elements differ, worst at [",
                IndexText(std::max<int64_t>(c.worst, 0), shape), "]: found ", got, ", expected ",
                expected);
}

std::string CheckLines(const std::vector<CheckResult>& checks, const Tolerance& tolerance) {
  std::string out;
  for (const CheckResult& check : checks) {
    const Comparison& c = check.comparison;
    out += StrCat(check.pass() ? "PASS  " : "FAIL  ", Escape(check.output), "  ");
    if (check.shape != check.expected) {
      out += check.Reason(tolerance) + "\n";
      continue;
    }
    out += StrCat("max abs error ", ErrorText(c.max_abs_error), ", scaled ",
                  ErrorText(c.max_scaled_error), ", relative L2 ", ErrorText(c.relative_l2));
    if (!c.pass) out += "; " + WorstText(c, check.shape);
    out += "\n";
  }
  return out;
}

bool AllPass(const std::vector<CheckResult>& checks) {
  return std::ranges::all_of(checks, &CheckResult::pass);
}

std::string OverallLine(const std::vector<CheckResult>& checks) {
  const auto passed = std::ranges::count_if(checks, &CheckResult::pass);
  return StrCat(AllPass(checks) ? "PASSED: " : "FAILED: ", passed, " of ", checks.size(),
                checks.size() == 1 ? " output agrees" : " outputs agree", "\n");
}

Json ChecksJson(const std::vector<CheckResult>& checks) {
  Json rows = Json::array();
  for (const CheckResult& check : checks) {
    const Comparison& c = check.comparison;
    Json row = {{"output", check.output},
                {"pass", check.pass()},
                {"max_abs_error", NumberOrNull(c.max_abs_error)},
                {"max_scaled_error", NumberOrNull(c.max_scaled_error)},
                {"max_rel_error", NumberOrNull(c.max_rel_error)},
                {"relative_l2", NumberOrNull(c.relative_l2)},
                {"mismatches", c.mismatches},
                {"elements", c.elements}};
    if (check.shape != check.expected) {
      row["shape"] = std::vector<int64_t>(check.shape.begin(), check.shape.end());
      row["expected_shape"] = std::vector<int64_t>(check.expected.begin(), check.expected.end());
    } else if (!c.pass && c.worst >= 0) {
      row["worst"] = {{"index", IndexText(c.worst, check.shape)},
                      {"found", NumberOrNull(c.got)},
                      {"expected", NumberOrNull(c.expected)}};
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace aicf::tools
