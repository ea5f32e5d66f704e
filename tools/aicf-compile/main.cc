/// aicf-compile: model file in, artifact out.
#include <malloc.h>

#include <chrono>
#include <optional>

#include "compiler/compiler.h"
#include "compiler/source/language.h"
#include "schema/signature.h"
#include "tools/aicf-compile/gaps.h"
#include "tools/aicf-compile/options.h"
#include "tools/aicf-compile/rebuild.h"
#include "tools/aicf-compile/report.h"
#include "tools/aicf-compile/stages.h"
#include "tools/common/allocation.h"
#include "tools/common/files.h"
#include "tools/common/process.h"
#include "tools/common/progress.h"
#include "tools/common/text.h"
#include "tools/library/cublaslt_algorithms.h"

namespace aicf::tools {
namespace {

/// The output files. They are opened before the work, so that a bad path is reported at once.
struct Outputs {
  std::optional<AtomicFile> artifact;
  std::optional<AtomicFile> decisions;
};

Status OpenOne(const CompileArgs& args, const std::string& path, std::optional<AtomicFile>* file) {
  if (path.empty() || args.check) return OkStatus();
  if (args.has_model && SameFile(path, args.model)) {
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

Status Finish(std::optional<AtomicFile>& file, std::span<const std::byte> bytes) {
  if (!file) return OkStatus();
  AICF_RETURN_IF_ERROR(file->Write(bytes));
  return file->Commit();
}

Status WriteDecisions(std::optional<AtomicFile>& file, const DecisionLog& log) {
  if (!file) return OkStatus();
  constexpr size_t kBlock = size_t{1} << 20;
  Status status;
  std::string block;
  log.ForEach([&](const Decision& d) {
    schema::AppendJsonLine(d, block);
    if (block.size() < kBlock || !status.ok()) return;
    status = file->Write(block);
    block.clear();
  });
  AICF_RETURN_IF_ERROR(status);
  return Finish(file, std::as_bytes(std::span(block)));
}

Status PrintStage(const CompileArgs& args, Outputs& outputs) {
  DecisionLog log;
  AICF_ASSIGN_OR_RETURN(const std::string text, StageText(args, &log));
  std::string explained;
  if (!args.explain.empty()) {
    AICF_ASSIGN_OR_RETURN(explained, ExplainText(log, args.explain));
  }
  Print(explained);
  AICF_RETURN_IF_ERROR(WriteDecisions(outputs.decisions, log));
  if (outputs.artifact) return Finish(outputs.artifact, std::as_bytes(std::span(text)));
  Print(text);
  return OkStatus();
}

/// How the compilation ended, for the first line of the report.
Result<std::string> Verdict(const CompileArgs& args, const CompileResult& result) {
  if (args.check) return std::string("no gaps; nothing is written");
  if (args.rebuild.empty()) return "-> " + Escape(args.output);
  AICF_ASSIGN_OR_RETURN(const std::string same, CompareRebuilt(*args.artifact, result));
  return StrCat("-> ", same, " as ", Escape(args.rebuild));
}

/// Signs the artifact if that was asked for. Returns the key's name, or "" when nothing was signed.
Result<std::string> SignAsAsked(const CompileArgs& args, CompileResult& result) {
  if (!args.sign) return std::string();
  AICF_ASSIGN_OR_RETURN(const auto artifact,
                        schema::Artifact::Parse(result.bytes, /*with_optional=*/true));
  AICF_ASSIGN_OR_RETURN(result.bytes, schema::Sign(*artifact, *args.sign));
  return schema::KeyName(args.sign->Public());
}

Status CompileModel(const CompileArgs& args, Outputs& outputs) {
  const auto start = std::chrono::steady_clock::now();
  if (!args.rebuild.empty()) {
    AICF_RETURN_IF_ERROR(CheckInputs(*args.artifact, args.model, args.options));
  }
  AICF_ASSIGN_OR_RETURN(CompileResult result, CompileAsAsked(args, args.options));
  ClearProgress();
  AICF_ASSIGN_OR_RETURN(const std::string verdict, Verdict(args, result));
  AICF_ASSIGN_OR_RETURN(const std::string signer, SignAsAsked(args, result));
  std::string explained;
  if (!args.explain.empty()) {
    AICF_ASSIGN_OR_RETURN(explained, ExplainText(result.decisions, args.explain));
    explained = "\n" + explained;
  }
  AICF_RETURN_IF_ERROR(WriteDecisions(outputs.decisions, result.decisions));
  AICF_RETURN_IF_ERROR(Finish(outputs.artifact, result.bytes));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const std::string& from = args.from.empty() ? args.model : args.from;
  Print(StrCat(Escape(from), " ", verdict, "\n\n", SummaryText(result, signer, seconds.count())));
  if (args.timings) Print("\n" + TimingsText(result.timings));
  Print(explained);
  return OkStatus();
}

/// Options with the first entry point that is refused as the only one. Looking at one is enough,
/// since gaps differ between buckets only where shapes decide them.
Result<CompileOptions> RefusedEntry(const CompileArgs& args) {
  CompileOptions one = args.options;
  AICF_ASSIGN_OR_RETURN(const std::vector<Bucket> entries,
                        EntryPointsOf(args.options.shapes, args.options.buckets));
  one.buckets.clear();
  for (const Bucket& entry : entries) {
    one.shapes = entry.shapes;
    if (entries.size() == 1 || !Compile(args.model, one).ok()) return one;
  }
  return one;
}

/// With --check, prints everything that a refused model lacks to stdout.
Status ReportGaps(const CompileArgs& args, const Status& refusal) {
  if (!args.check || refusal.code() != Code::kUnsupported) return refusal;
  AICF_ASSIGN_OR_RETURN(const bool is_language, IsLanguageModel(args.model));
  if (is_language) return refusal;  // one sentence names what is missing
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
  args.options.passes.dump = [](std::string_view pass, std::string_view entry,
                                const std::string& text) {
    const std::string of = entry.empty() ? "" : StrCat(", entry point ", Quote(entry));
    Print(StrCat("# after ", pass, of, "\n", text, "\n"));
  };
  args.options.progress = ShowProgress;
  for (const std::string& output : {args.output, args.export_decisions}) {
    if (!output.empty()) args.options.files.outputs.push_back(output);
  }
  // An unknown target is no error here: the compiler refuses it.
  std::optional<CublasLtAlgorithms> algorithms;
  const Result<abi::DeviceSpec> target = abi::FindDevice(args.options.target);
  if (target.ok() && target->backend == abi::Backend::kCuda) {
    args.options.library_algorithms = &algorithms.emplace(*target);
  }
  Status status = args.stop_after ? PrintStage(args, outputs) : CompileModel(args, outputs);
  ClearProgress();
  status = ReportGaps(args, status);
  const std::string& from = args.from.empty() ? args.model : args.from;
  if (status.ok() || status.message().find(from) != std::string::npos) return status;
  return status.WithContext(from);
}

}  // namespace
}  // namespace aicf::tools

int main(int argc, char** argv) {
  aicf::tools::EndOnFailedAllocation("aicf-compile");
#ifdef M_MXFAST
  // Switches off glibc's fast bins. They keep freed small blocks unmerged and merge all of them at
  // once whenever a large block is requested. A graph of a million nodes frees millions of small
  // blocks between two requests of large ones.
  mallopt(M_MXFAST, 0);
#endif
  return aicf::tools::RunTool("aicf-compile", argc, argv, &aicf::tools::Main);
}
