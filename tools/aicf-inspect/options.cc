#include "tools/aicf-inspect/options.h"

#include <string_view>

#include "tools/common/exit_codes.h"
#include "tools/common/flags.h"

namespace aicf::tools {
namespace {

constexpr std::string_view kDescription =
    "Shows an artifact: header, entry points, memory, steps with the source nodes they came from,\n"
    "and every decision with its reason and what was refused. Needs no device.";

constexpr std::string_view kExamples = R"(Examples:
  aicf-inspect rec.aicf
      everything, as text
  aicf-inspect rec.aicf --explain=12
      one step from its source nodes to its kernel, and why at every stage
  aicf-inspect rec.aicf --explain=p2o.Conv.2
      what became of a source node; with '*' a list of nodes
  aicf-inspect rec.aicf --memory
      the arena over time, and what takes most of it
  aicf-inspect --diff before.aicf after.aicf
      decisions that differ, with the costs of both
  aicf-inspect rec.aicf --json | jq '.steps[].kernel'
  aicf-inspect rec.aicf --html=rec.html --profile=rec.trace.json
      one page for a browser; the profile comes from aicf-run --export-profile
  aicf-inspect rec.aicf --verify && echo fine
  aicf-inspect rec.aicf --verify --require-signature=key.pub.pem
      whether it is what the key's owner has signed

)";

std::string ExitCodes() {
  return ExitCodesText({{Code::kCheckFailed, "--diff found differences"},
                        {Code::kUnsupported, "newer format"},
                        {Code::kBadArtifact}});
}

// Whether --diff comes before the positional argument. The file that comes first on the command
// line is A, no matter which of the two is the flag's value.
bool DiffComesFirst(const std::vector<std::string>& args, const std::string& artifact) {
  for (const std::string& arg : args) {
    if (arg.starts_with("--diff")) return true;
    if (arg == artifact) return false;
  }
  return false;
}

void AddViews(CommandLine& line, InspectOptions& options, const std::vector<CLI::Option*>& others) {
  ViewOptions& view = options.view;
  CLI::Option* explain = line.AddValue(
      "--explain", view.explain,
      "STEP|NODE  its story from the source to the kernel; NODE may hold '*' and '?'");
  CLI::Option* memory = line.app.add_flag("--memory", view.memory, "draw the arena over time");
  CLI::Option* diff = line.AddValue("--diff", view.diff,
                                    "FILE  decisions that differ between two artifacts, of which "
                                    "the first named is A; exit code 1 when there are any");
  CLI::Option* entry =
      line.AddValue("--entry", view.entry, "NAME  entry point for --explain and --memory");
  line.app.add_flag("--ascii", view.ascii, "draw with ASCII characters only")->needs(memory);
  entry->excludes(diff);
  explain->excludes(memory, diff);
  memory->excludes(diff);
  for (CLI::Option* other : others) {
    for (CLI::Option* own : {explain, memory, diff, entry}) own->excludes(other);
  }
}

}  // namespace

Status ParseInspectOptions(const std::vector<std::string>& args, InspectOptions* out, bool* run) {
  CommandLine line("aicf-inspect", kDescription);
  InspectOptions& options = *out;
  line.AddValue("artifact", options.artifact, "file made by aicf-compile")->required();
  CLI::Option* step =
      line.AddValue("--step", options.step, "N  one step's operands, launch and decisions");
  CLI::Option* json = line.app.add_flag("--json", options.json, "one JSON object");
  CLI::Option* verify =
      line.app.add_flag("--verify", options.verify, "only verify; one line, exit code 5 when bad");
  CLI::Option* summary =
      line.app.add_flag("--summary", options.summary, "no lists of steps and decisions");
  CLI::Option* html = line.AddValue("--html", options.report.html,
                                    "FILE  a page for a browser, with everything in it");
  line.AddValue("--profile", options.report.profile,
                "FILE  times for the page, from aicf-run --export-profile")
      ->needs(html);
  line.app.add_flag("--force", options.report.force, "replace an existing page")->needs(html);
  html->excludes(step, json, verify, summary);
  step->excludes(json, verify, summary);
  json->excludes(verify, summary);
  verify->excludes(summary);
  options.signature.AddTo(line);
  AddViews(line, options, {step, verify, summary});
  line.app.footer(StrCat(kExamples, ExitCodes()));
  AICF_RETURN_IF_ERROR(line.Parse(args, {}, run));
  AICF_RETURN_IF_ERROR(options.signature.Read());
  options.view.required = options.signature.keys();
  options.view.json = options.json;
  options.view.diff_first = DiffComesFirst(args, options.artifact);
  options.report.artifact = options.artifact;
  return OkStatus();
}

}  // namespace aicf::tools
