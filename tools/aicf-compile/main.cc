/// aicf-compile: model file in, artifact out.
#include <chrono>
#include <optional>

#include "base/scanner.h"
#include "compiler/compiler.h"
#include "compiler/emit/merge_plans.h"
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

/// A stage of one entry point, as far as was asked for.
struct StageOfEntry {
  std::string text;           ///< of the graph or the lowered program
  schema::Contents contents;  ///< with --stop-after=plan
};

Result<StageOfEntry> RunStage(const CompileArgs& args, const CompileOptions& options,
                              DecisionLog* log) {
  StageOfEntry out;
  PassContext context;
  AICF_ASSIGN_OR_RETURN(context.device, abi::FindDevice(options.target));
  context.math = options.math;
  context.decisions = log;
  context.no_fusion = options.no_fusion;
  PassRunner runner(options.passes);
  AICF_ASSIGN_OR_RETURN(ir::Graph graph, ImportOnnx(args.model));
  AICF_ASSIGN_OR_RETURN(graph, PrepareGraph(std::move(graph), options, runner, context));
  if (args.stop_after == Stage::kGraph) {
    out.text = ir::ToString(graph);
    return out;
  }
  AICF_ASSIGN_OR_RETURN(const ir::Lowered lowered, Lower(graph, runner, context));
  if (args.stop_after == Stage::kLowered) {
    out.text = ir::ToString(lowered);
    return out;
  }
  AICF_ASSIGN_OR_RETURN(out.contents, MakePlan(lowered, options, context));
  return out;
}

/// The text of a stage; runs no further than needed. Of several entry points, graphs and lowered
/// programs follow each other behind lines with their names, as in an artifact; plans are one.
Result<std::string> StageText(const CompileArgs& args, DecisionLog* log) {
  AICF_ASSIGN_OR_RETURN(const std::vector<Bucket> entries, EntryPointsOf(args.options));
  std::string text;
  std::vector<NamedPlan> plans;
  size_t steps = 0;
  for (const Bucket& entry : entries) {
    CompileOptions options = args.options;
    options.shapes = entry.shapes;
    DecisionLog own;
    Result<StageOfEntry> stage = RunStage(args, options, &own);
    const std::string label = EntryLabel(args.options, entry);
    if (!stage.ok()) return label.empty() ? stage.status() : stage.status().WithContext(label);
    log->Append(own, label.empty() ? "" : entry.name, steps);
    steps += stage->contents.program.steps.size();
    if (!label.empty()) text += StrCat("entry ", Quote(entry.name), "\n");
    text += stage->text;
    plans.push_back({entry.name, std::move(stage->contents)});
  }
  if (args.stop_after != Stage::kPlan) return text;
  AICF_ASSIGN_OR_RETURN(const schema::Contents merged, MergePlans(std::move(plans)));
  return schema::ToString(merged.program);
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

/// The first of the entry points that is refused, as the only one. Gaps differ between buckets only
/// where shapes decide them.
Result<CompileOptions> RefusedEntry(const CompileArgs& args) {
  CompileOptions one = args.options;
  AICF_ASSIGN_OR_RETURN(const std::vector<Bucket> entries, EntryPointsOf(args.options));
  one.buckets.clear();
  for (const Bucket& entry : entries) {
    one.shapes = entry.shapes;
    if (entries.size() == 1 || !Compile(args.model, one).ok()) return one;
  }
  return one;
}

/// --check of a model that was refused: everything that is missing, on stdout.
Status ReportGaps(const CompileArgs& args, const Status& refusal) {
  if (!args.check || refusal.code() != Code::kUnsupported) return refusal;
  AICF_ASSIGN_OR_RETURN(const CompileOptions options, RefusedEntry(args));
  AICF_ASSIGN_OR_RETURN(const GapReport report, FindGaps(args.model, options, refusal));
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
