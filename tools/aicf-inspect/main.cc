/// aicf-inspect: what an artifact says, and why.
#include "schema/artifact.h"
#include "tools/aicf-inspect/json.h"
#include "tools/aicf-inspect/text.h"
#include "tools/common/flags.h"
#include "tools/common/process.h"
#include "tools/common/text.h"

namespace aicf::tools {
namespace {

constexpr std::string_view kDescription =
    "Shows an artifact: header, entry points, memory, steps with the source nodes they came from,\n"
    "and every decision with its reason and what was refused. Needs no device.";

constexpr std::string_view kExamples = R"(Examples:
  aicf-inspect rec.aicf
      everything, as text
  aicf-inspect rec.aicf --step=12
      one step: operands, bytes, kernel, and why it looks like this
  aicf-inspect rec.aicf --json | jq '.steps[].kernel'
  aicf-inspect rec.aicf --verify && echo fine

Exit codes: 0 ok, 2 usage, 4 newer format, 5 bad artifact, 8 I/O.)";

struct Options {
  std::string artifact, step;
  bool json = false, verify = false, summary = false;
};

std::string VerifiedText(const std::string& path, const schema::Artifact& artifact) {
  const schema::Program& program = artifact.program();
  return StrCat(Escape(path), ": verified: ", artifact.header().sections.size(),
                " sections hashed, ", program.steps.size(), " steps and ", program.buffers.size(),
                " buffers proven\n");
}

Status Inspect(const Options& options) {
  auto loaded = schema::Artifact::Load(options.artifact, /*with_optional=*/true);
  if (!loaded.ok()) {
    const bool named = loaded.status().message().find(options.artifact) != std::string::npos;
    return named ? loaded.status() : loaded.status().WithContext(options.artifact);
  }
  const schema::Artifact& artifact = **loaded;
  const std::vector<Json> decisions =
      ParseDecisions(artifact.text(schema::SectionKind::kDecisions));
  if (!options.step.empty()) {
    const size_t count = artifact.program().steps.size();
    if (count == 0) return Status(Code::kInvalidArgument, "--step: the program has no steps");
    AICF_ASSIGN_OR_RETURN(const int64_t step,
                          ParseInt("--step", options.step, 0, static_cast<int64_t>(count) - 1));
    Print(StepText(artifact, static_cast<uint32_t>(step), decisions));
    return OkStatus();
  }
  if (options.verify) {
    Print(VerifiedText(options.artifact, artifact));
    return OkStatus();
  }
  if (options.json) {
    Print(ArtifactJson(artifact, decisions));
    return OkStatus();
  }
  Print(StrCat(Escape(options.artifact), "\n\n", HeaderText(artifact), EntryPointText(artifact),
               MemoryText(artifact)));
  if (options.summary) {
    Print(StrCat("Steps      ", artifact.program().steps.size(), "\nDecisions  ", decisions.size(),
                 decisions.empty() ? "" : ": ", CountsByKind(decisions), "\n"));
    return OkStatus();
  }
  Print(StepsText(artifact));
  Print(decisions.empty() ? "Decisions: none in this artifact (compiled with --strip)\n"
                          : DecisionsText(decisions));
  return OkStatus();
}

Status Main(const std::vector<std::string>& args) {
  CommandLine line("aicf-inspect", kDescription);
  Options options;
  line.AddValue("artifact", options.artifact, "file made by aicf-compile")->required();
  CLI::Option* step =
      line.AddValue("--step,--explain", options.step, "N  one step in full, with its decisions");
  CLI::Option* json = line.app.add_flag("--json", options.json, "one JSON object");
  CLI::Option* verify =
      line.app.add_flag("--verify", options.verify, "only verify; one line, exit code 5 when bad");
  CLI::Option* summary =
      line.app.add_flag("--summary", options.summary, "no lists of steps and decisions");
  step->excludes(json, verify, summary);
  json->excludes(verify, summary);
  verify->excludes(summary);
  line.app.footer(std::string(kExamples));
  bool run = false;
  AICF_RETURN_IF_ERROR(line.Parse(args, {}, &run));
  return run ? Inspect(options) : OkStatus();
}

}  // namespace
}  // namespace aicf::tools

int main(int argc, char** argv) {
  return aicf::tools::RunTool("aicf-inspect", argc, argv, &aicf::tools::Main);
}
