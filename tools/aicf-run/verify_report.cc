#include "tools/aicf-run/verify_report.h"

#include <algorithm>

#include "schema/artifact.h"
#include "tools/aicf-run/check_text.h"
#include "tools/common/text.h"
#include "tools/verify/pin_hint.h"
#include "tools/verify/report_json.h"

namespace aicf::tools {
namespace {

constexpr size_t kWorstSteps = 10;

const schema::Program& PlanOf(const Program& program) { return program.artifact().program(); }

std::string SourcesOf(const Program& program, uint32_t step) {
  return Escape(Join(PlanOf(program).steps[step].sources, ", "));
}

/// At most `most` steps, the worst first: failed ones, then those that add the largest error
/// relative to the norm of their results.
std::vector<const StepCheck*> ByError(const StepsReport& report, size_t most) {
  std::vector<const StepCheck*> steps;
  for (const StepCheck& s : report.steps) steps.push_back(&s);
  std::ranges::stable_sort(steps, [](const StepCheck* a, const StepCheck* b) {
    if (a->pass != b->pass) return b->pass;
    return a->comparison.relative_l2 > b->comparison.relative_l2;
  });
  if (steps.size() > most) steps.resize(most);
  return steps;
}

std::string ToleranceText(const StepCheck& s) {
  if (s.runs == 0) return "";
  if (s.cancelled) return s.tolerance.ToString() + ", terms cancel";
  return s.tolerance.atol == 0.0 && s.tolerance.rtol == 0.0 ? "exact" : s.tolerance.ToString();
}

std::string_view Verdict(const StepCheck& s) {
  if (s.runs == 0) return "skipped";
  return s.pass ? "pass" : "FAIL";
}

std::string StepTable(const Program& program, const std::vector<const StepCheck*>& steps) {
  constexpr auto kRight = Table::Align::kRight;
  Table table({{"step", kRight},
               {""},
               {"kernel"},
               {"math"},
               {"max abs", kRight},
               {"max rel", kRight},
               {"rel L2", kRight},
               {"drift", kRight},
               {"tolerance"},
               {"source nodes"}});
  for (const StepCheck* s : steps) {
    const schema::Step& step = PlanOf(program).steps[s->step];
    const Comparison& c = s->comparison;
    table.Add({std::to_string(s->step), std::string(Verdict(*s)), Escape(step.kernel),
               std::string(abi::MathModeName(step.problem.math)), ErrorText(c.max_abs_error),
               ErrorText(c.max_rel_error), ErrorText(c.relative_l2), ErrorText(s->drift_l2),
               ToleranceText(*s), Shorten(SourcesOf(program, s->step), 60)});
  }
  return table.ToString("  ");
}

std::string DriftTable(const StepsReport& report) {
  constexpr auto kRight = Table::Align::kRight;
  Table table({{"output"}, {"max abs", kRight}, {"scaled", kRight}, {"rel L2", kRight}});
  for (const OutputDrift& o : report.outputs) {
    const Comparison& c = o.comparison;
    table.Add({Escape(o.name), ErrorText(c.max_abs_error), ErrorText(c.max_scaled_error),
               ErrorText(c.relative_l2)});
  }
  return table.ToString("  ");
}

/// "step 3: 12 of 96 elements differ, ...".
std::string FailureText(const Program& program, const StepCheck& s) {
  std::string out = StrCat("First difference: ", StepName(program, s.step), "\n");
  if (!s.changed.empty()) {
    return StrCat(out, "  its operand '", Escape(s.changed),
                  "' is not what the step that wrote it left there: a step in between writes "
                  "outside its outputs\n");
  }
  const auto& step = PlanOf(program).steps[s.step];
  const std::string name =
      Escape(PlanOf(program).buffers[step.outputs[static_cast<size_t>(s.output)]].name);
  out += StrCat("  output ", s.output, " ('", name, "', ", ToString(s.shape), ")");
  if (s.overflows > 0) {
    return StrCat(out, ": ", s.overflows, " results are infinite in ",
                  DTypeName(step.problem.outputs[static_cast<size_t>(s.output)].dtype),
                  ", and its operands are finite: they are too large for it\n");
  }
  if (s.trip > 0) out += StrCat(" in trip ", s.trip + 1);
  out += StrCat(": ", WorstText(s.comparison, s.shape), "\n");
  return StrCat(out, "  max abs error ", ErrorText(s.comparison.max_abs_error), ", relative L2 ",
                ErrorText(s.comparison.relative_l2), "; tolerance ", ToleranceText(s), "\n");
}

std::string PinLine(const RunOptions& options, const Program& program, const StepCheck& s) {
  const std::string flags =
      s.overflows > 0 ? WidenFlags(PlanOf(program), s.step) : PinFlags(PlanOf(program), s.step);
  if (flags.empty()) return "";
  return StrCat("To pin it: aicf-compile --from ", Escape(options.artifact), " ", flags,
                " -o pinned.aicf\n");
}

/// For a report without failures: of the steps whose math mode rounds the operands of products, the
/// one with the largest error. Empty if there is none.
std::string MathLine(const RunOptions& options, const Program& program, const StepsReport& report) {
  const StepCheck* most = nullptr;
  for (const StepCheck& s : report.steps) {
    if (!HasReducedMath(PlanOf(program).steps[s.step])) continue;
    if (most == nullptr || s.comparison.relative_l2 > most->comparison.relative_l2) most = &s;
  }
  if (most == nullptr) return "";
  return StrCat("Its math mode costs most at ", StepName(program, most->step), ": relative L2 ",
                ErrorText(most->comparison.relative_l2), "\n", PinLine(options, program, *most));
}

std::string VerdictLine(const StepCounts& counts) {
  if (counts.failed == 0) {
    return StrCat("PASSED: ", counts.compared, " steps agree with the reference kernels\n");
  }
  return StrCat("FAILED: ", counts.failed, " of ", counts.compared,
                " steps differ from the reference kernels\n");
}

std::string CountText(const StepCounts& counts) {
  std::string text = StrCat(counts.compared, " compared");
  if (counts.skipped > 0) text += StrCat(", ", counts.skipped, " skipped by their guards");
  if (counts.same > 0)
    text += StrCat(", ", counts.same, " of them run the reference kernel itself");
  return text;
}

Json HeadJson(const RunOptions& options, const Program& program, const std::string& device) {
  return {{"artifact", options.artifact}, {"target", program.target()}, {"device", device}};
}

std::string Dump(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string HeadText(const RunOptions& options, const Program& program, const std::string& device) {
  return StrCat(Escape(options.artifact), "\n\n", KeyLine(10, "target", program.target()),
                KeyLine(10, "device", Escape(device)));
}

bool AllPass(const std::vector<SampleCheck>& samples) {
  return std::ranges::all_of(samples,
                             [](const SampleCheck& s) { return tools::AllPass(s.checks); });
}

}  // namespace

std::string StepName(const Program& program, uint32_t step) {
  return StrCat("step ", step, " (", Escape(PlanOf(program).steps[step].kernel), "; ",
                SourcesOf(program, step), ")");
}

std::string StepsText(const RunOptions& options, const Program& program, size_t entry,
                      const StepsReport& report) {
  const StepCounts counts = CountSteps(report);
  std::string out = HeadText(options, program, report.device);
  if (program.entries().size() > 1)
    out += KeyLine(10, "entry", Escape(program.entries()[entry].name));
  out += KeyLine(10, "steps", CountText(counts)) + "\n";
  const size_t rows = options.verbose ? report.steps.size() : kWorstSteps;
  auto steps = ByError(report, rows);
  if (options.verbose) std::ranges::sort(steps, {}, &StepCheck::step);
  out += StrCat("=== ", options.verbose ? "Steps" : "Largest errors", " on the same buffers ===\n",
                StepTable(program, steps), "\n");
  out += "=== Outputs against a run on the reference kernels alone (drift) ===\n" +
         DriftTable(report) + "\n";
  if (report.first_failed) out += FailureText(program, report.steps[*report.first_failed]);
  out += VerdictLine(counts);
  if (!report.first_failed) return out + MathLine(options, program, report);
  return out + PinLine(options, program, report.steps[*report.first_failed]);
}

std::string StepsJson(const RunOptions& options, const Program& program, size_t entry,
                      const StepsReport& report) {
  Json out = HeadJson(options, program, report.device);
  out["entry"] = program.entries()[entry].name;
  out["verify"] = StepsReportJson(program, report);
  return Dump(out);
}

std::string SamplesText(const RunOptions& options, const Program& program,
                        const std::string& device, const std::vector<SampleCheck>& samples) {
  std::string out = HeadText(options, program, device) + "\n";
  size_t passed = 0;
  for (size_t i = 0; i < samples.size(); ++i) {
    const SampleCheck& s = samples[i];
    if (tools::AllPass(s.checks)) ++passed;
    out += StrCat("=== Sample ", i + 1, " (");
    if (program.entries().size() > 1) {
      out += StrCat("entry ", Escape(program.entries()[s.entry].name), ", ");
    }
    out += StrCat("outputs ", s.origin == "given" ? "given" : "of the reference kernels", ", ",
                  s.tolerance.ToString(), ") ===\n", CheckLines(s.checks, s.tolerance));
  }
  return StrCat(out, "\n", AllPass(samples) ? "PASSED: " : "FAILED: ", passed, " of ",
                samples.size(), samples.size() == 1 ? " sample agrees\n" : " samples agree\n");
}

std::string SamplesJson(const RunOptions& options, const Program& program,
                        const std::string& device, const std::vector<SampleCheck>& samples) {
  Json out = HeadJson(options, program, device);
  Json verify = {{"mode", "golden"}, {"pass", AllPass(samples)}, {"samples", Json::array()}};
  for (const SampleCheck& s : samples) {
    verify["samples"].push_back({{"entry", program.entries()[s.entry].name},
                                 {"outputs_from", s.origin},
                                 {"pass", tools::AllPass(s.checks)},
                                 {"tolerance", ToleranceJson(s.tolerance)},
                                 {"outputs", ChecksJson(s.checks)}});
  }
  out["verify"] = std::move(verify);
  return Dump(out);
}

}  // namespace aicf::tools
