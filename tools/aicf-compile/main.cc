/// aicf-compile: model file in, artifact out.
#include <chrono>
#include <optional>

#include "compiler/compiler.h"
#include "tools/aicf-compile/gaps.h"
#include "tools/aicf-compile/options.h"
#include "tools/aicf-compile/report.h"
#include "tools/common/files.h"
#include "tools/common/process.h"
#include "tools/common/progress.h"
#include "tools/common/text.h"
#include "tools/library/cublaslt_algorithms.h"

namespace aicf::tools {
namespace {

/// Output files, opened before the work so that a bad path is known at once.
struct Outputs {
  std::optional<AtomicFile> artifact;
  std::optional<AtomicFile> decisions;
};

Status OpenOne(const CompileArgs& args, const std::string& path, std::optional<AtomicFile>* file) {
  if (path.empty() || args.check) return OkStatus();
  if (SameFile(path, args.model)) {
    return Error(Code::kInvalidArgument, path, ": the output is the model itself");
  }
  AICF_ASSIGN_OR_RETURN(AtomicFile opened, AtomicFile::Create(path, args.existing));
  *file = std::move(opened);
  return OkStatus();
}

Status OpenOutputs(const CompileArgs& args, Outputs* outputs) {
  if (!args.output.empty() &&
      (args.output == args.export_decisions || SameFile(args.output, args.export_decisions))) {
    return Error(Code::kInvalidArgument, args.output, ": two outputs have the same path");
  }
  AICF_RETURN_IF_ERROR(OpenOne(args, args.output, &outputs->artifact));
  return OpenOne(args, args.export_decisions, &outputs->decisions);
}

/// The text of a stage; runs no further than needed.
Result<std::string> StageText(const CompileArgs& args, DecisionLog* log) {
  const CompileOptions& options = args.options;
  PassContext context;
  AICF_ASSIGN_OR_RETURN(context.device, abi::FindDevice(options.target));
  context.math = options.math;
  context.decisions = log;
  context.no_fusion = options.no_fusion;
  PassRunner runner(options.passes);
  AICF_ASSIGN_OR_RETURN(ir::Graph graph, ImportOnnx(args.model));
  AICF_ASSIGN_OR_RETURN(graph, PrepareGraph(std::move(graph), options, runner, context));
  if (args.stop_after == Stage::kGraph) return ir::ToString(graph);
  AICF_ASSIGN_OR_RETURN(const ir::Lowered lowered, Lower(graph, runner, context));
  if (args.stop_after == Stage::kLowered) return ir::ToString(lowered);
  AICF_ASSIGN_OR_RETURN(const schema::Contents contents, MakePlan(lowered, options, context));
  return schema::ToString(contents.program);
}

Status Finish(std::optional<AtomicFile>& file, std::span<const std::byte> bytes) {
  if (!file) return OkStatus();
  AICF_RETURN_IF_ERROR(file->Write(bytes));
  return file->Commit();
}

Status PrintStage(const CompileArgs& args, Outputs& outputs) {
  DecisionLog log;
  AICF_ASSIGN_OR_RETURN(const std::string text, StageText(args, &log));
  if (args.explain) Print(ExplainText(log));
  const std::string decisions = log.ToJsonLines();
  AICF_RETURN_IF_ERROR(Finish(outputs.decisions, std::as_bytes(std::span(decisions))));
  if (outputs.artifact) return Finish(outputs.artifact, std::as_bytes(std::span(text)));
  Print(text);
  return OkStatus();
}

Status CompileModel(const CompileArgs& args, Outputs& outputs) {
  const auto start = std::chrono::steady_clock::now();
  AICF_ASSIGN_OR_RETURN(const CompileResult result, Compile(args.model, args.options));
  ClearProgress();
  const std::string decisions = result.decisions.ToJsonLines();
  AICF_RETURN_IF_ERROR(Finish(outputs.decisions, std::as_bytes(std::span(decisions))));
  AICF_RETURN_IF_ERROR(Finish(outputs.artifact, result.bytes));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const std::string to = args.check ? "no gaps; nothing is written" : "-> " + Escape(args.output);
  Print(StrCat(Escape(args.model), " ", to, "\n\n", SummaryText(result, seconds.count())));
  if (args.timings) Print("\n" + TimingsText(result.timings));
  if (args.explain) Print("\n" + ExplainText(result.decisions));
  return OkStatus();
}

/// --check of a model that was refused: everything that is missing, on stdout.
Status ReportGaps(const CompileArgs& args, const Status& refusal) {
  if (!args.check || refusal.code() != Code::kUnsupported) return refusal;
  AICF_ASSIGN_OR_RETURN(const GapReport report, FindGaps(args.model, args.options, refusal));
  Print(GapsText(args.model, report));
  return Error(Code::kUnsupported, args.model, ": ", report.gaps.size(),
               report.gaps.size() == 1 ? " gap, see above" : " gaps, see above");
}

Status Main(const std::vector<std::string>& argv) {
  CompileArgs args;
  bool run = false;
  AICF_RETURN_IF_ERROR(ParseCompileArgs(argv, &args, &run));
  if (!run) return OkStatus();
  Outputs outputs;
  AICF_RETURN_IF_ERROR(OpenOutputs(args, &outputs));
  args.options.passes.dump = [](std::string_view pass, const std::string& text) {
    Print(StrCat("# after ", pass, "\n", text, "\n"));
  };
  args.options.progress = ShowProgress;
  // A target that does not exist is the compiler's to refuse.
  std::optional<CublasLtAlgorithms> algorithms;
  const Result<abi::DeviceSpec> target = abi::FindDevice(args.options.target);
  if (target.ok() && target->backend == abi::Backend::kCuda) {
    args.options.library_algorithms = &algorithms.emplace(*target);
  }
  Status status = args.stop_after ? PrintStage(args, outputs) : CompileModel(args, outputs);
  ClearProgress();
  status = ReportGaps(args, status);
  if (status.ok() || status.message().find(args.model) != std::string::npos) return status;
  return status.WithContext(args.model);
}

}  // namespace
}  // namespace aicf::tools

int main(int argc, char** argv) {
  return aicf::tools::RunTool("aicf-compile", argc, argv, &aicf::tools::Main);
}
