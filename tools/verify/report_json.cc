#include "tools/verify/report_json.h"

#include <cmath>

#include "schema/artifact.h"
#include "tools/common/text.h"
#include "tools/verify/pin_hint.h"

namespace aicf::tools {
namespace {

Json ErrorJson(const Comparison& c) {
  return {{"max_abs_error", NumberOrNull(c.max_abs_error)},
          {"max_rel_error", NumberOrNull(c.max_rel_error)},
          {"relative_l2", NumberOrNull(c.relative_l2)},
          {"mismatches", c.mismatches},
          {"elements", c.elements}};
}

Json StepJson(const Program& program, const StepCheck& s) {
  const schema::Step& step = program.artifact().program().steps[s.step];
  Json row = {{"step", s.step},          {"kernel", step.kernel},
              {"sources", step.sources}, {"math", abi::MathModeName(step.problem.math)},
              {"pass", s.pass},          {"runs", s.runs}};
  if (s.runs == 0) return row;
  row.update(ErrorJson(s.comparison));
  row["tolerance"] = ToleranceJson(s.tolerance);
  if (s.cancelled) row["terms_cancel"] = true;
  row["drift_l2"] = NumberOrNull(s.drift_l2);
  if (s.comparison.worst >= 0) {
    row["worst"] = {{"output", s.output},
                    {"trip", s.trip},
                    {"index", IndexText(s.comparison.worst, s.shape)},
                    {"found", NumberOrNull(s.comparison.got)},
                    {"expected", NumberOrNull(s.comparison.expected)}};
  }
  if (s.overflows > 0) row["overflows"] = s.overflows;
  if (!s.changed.empty()) row["changed_operand"] = s.changed;
  if (s.overflows > 0) {
    row["pin"] = WidenFlags(program.artifact().program(), s.step);
  } else if (!s.pass) {
    row["pin"] = PinFlags(program.artifact().program(), s.step);
  }
  return row;
}

}  // namespace

Json NumberOrNull(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

StepCounts CountSteps(const StepsReport& report) {
  StepCounts counts;
  for (const StepCheck& s : report.steps) {
    (s.runs == 0 ? counts.skipped : counts.compared) += 1;
    if (!s.pass) ++counts.failed;
    if (s.same_kernel && s.runs > 0) ++counts.same;
  }
  return counts;
}

Json ToleranceJson(const Tolerance& t) {
  Json out = Json::object();
  if (t.atol) out["atol"] = *t.atol;
  if (t.rtol) out["rtol"] = *t.rtol;
  if (t.rel) out["rel"] = *t.rel;
  return out;
}

Json StepsReportJson(const Program& program, const StepsReport& report) {
  const StepCounts counts = CountSteps(report);
  Json out = {{"mode", "steps"},         {"pass", report.pass},       {"compared", counts.compared},
              {"failed", counts.failed}, {"skipped", counts.skipped}, {"first_failed", nullptr}};
  if (report.first_failed) out["first_failed"] = report.steps[*report.first_failed].step;
  out["steps"] = Json::array();
  for (const StepCheck& s : report.steps) out["steps"].push_back(StepJson(program, s));
  out["outputs"] = Json::array();
  for (const OutputDrift& o : report.outputs) {
    Json row = {{"output", o.name}};
    row.update(ErrorJson(o.comparison));
    row["max_scaled_error"] = NumberOrNull(o.comparison.max_scaled_error);
    out["outputs"].push_back(std::move(row));
  }
  return out;
}

}  // namespace aicf::tools
