/// aicf-inspect: what an artifact says, and why.
#include "schema/artifact.h"
#include "tools/aicf-inspect/html.h"
#include "tools/aicf-inspect/json.h"
#include "tools/aicf-inspect/language.h"
#include "tools/aicf-inspect/options.h"
#include "tools/aicf-inspect/text.h"
#include "tools/aicf-inspect/views.h"
#include "tools/common/flags.h"
#include "tools/common/keys.h"
#include "tools/common/process.h"
#include "tools/common/text.h"
#include "tools/inspect/evidence.h"

namespace aicf::tools {
namespace {

std::string VerifiedText(const std::string& path, const schema::Artifact& artifact) {
  const schema::Program& program = artifact.program();
  return StrCat(Escape(path), ": verified: ", artifact.header().sections.size(),
                " sections hashed, ", program.steps.size(), " steps and ", program.buffers.size(),
                " buffers proven; signed: ", SignedText(artifact), "\n");
}

Status Inspect(const InspectOptions& options) {
  if (!options.view.diff.empty()) return Diff(options.artifact, options.view);
  AICF_ASSIGN_OR_RETURN(const auto loaded,
                        LoadForInspection(options.artifact, options.view.required));
  const schema::Artifact& artifact = *loaded;
  if (!options.view.explain.empty()) return Explain(artifact, options.view);
  if (options.view.memory) return ShowMemory(artifact, options.view);
  const DecisionLines decisions =
      ReadDecisions(artifact.text(schema::SectionKind::kDecisions), artifact.program());
  const size_t count = decisions.decisions.size() + decisions.unread.size();
  if (!options.step.empty()) {
    const auto steps = static_cast<int64_t>(artifact.program().steps.size());
    if (steps == 0) return Status(Code::kInvalidArgument, "--step: the program has no steps");
    AICF_ASSIGN_OR_RETURN(const int64_t step, ParseInt("--step", options.step, 0, steps - 1));
    Print(StepText(artifact, static_cast<uint32_t>(step), decisions));
    return OkStatus();
  }
  if (options.verify) {
    Print(VerifiedText(options.artifact, artifact));
    return OkStatus();
  }
  if (!options.report.html.empty()) return WriteReport(artifact, decisions, options.report);
  if (options.json) {
    Print(ArtifactJson(artifact, decisions));
    return OkStatus();
  }
  Print(StrCat(Escape(options.artifact), "\n\n", HeaderText(artifact), LanguageText(artifact),
               EntryPointText(artifact), MemoryText(artifact)));
  if (options.summary) {
    Print(StrCat("Steps      ", artifact.program().steps.size(), "\nDecisions  ", count,
                 count == 0 ? "" : ": ", CountsByKind(decisions), "\n"));
    return OkStatus();
  }
  Print(StepsText(artifact));
  Print(count == 0 ? StrCat("Decisions: none, ", kStripped, "\n") : DecisionsText(decisions));
  return OkStatus();
}

Status Main(const std::vector<std::string>& args) {
  InspectOptions options;
  bool run = false;
  AICF_RETURN_IF_ERROR(ParseInspectOptions(args, &options, &run));
  return run ? Inspect(options) : OkStatus();
}

}  // namespace
}  // namespace aicf::tools

int main(int argc, char** argv) {
  return aicf::tools::RunTool("aicf-inspect", argc, argv, &aicf::tools::Main);
}
