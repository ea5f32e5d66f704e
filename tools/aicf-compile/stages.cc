#include "tools/aicf-compile/stages.h"

#include "base/scanner.h"
#include "compiler/source/language.h"

namespace aicf::tools {
namespace {

// The text of one entry point.
Result<std::string> TextOf(const CompileArgs& args, const ir::Graph& model,
                           const CompileOptions& options, DecisionLog* log) {
  AICF_ASSIGN_OR_RETURN(PassContext context, ContextFor(options));
  context.decisions = log;
  PassRunner runner(options.passes);
  AICF_ASSIGN_OR_RETURN(const ir::Graph graph, PrepareGraph(model, options, runner, context));
  if (args.stop_after == Stage::kGraph) return ir::ToString(graph);
  AICF_ASSIGN_OR_RETURN(const ir::Lowered lowered, Lower(graph, options, runner, context));
  return ir::ToString(lowered);
}

std::string EntryLine(const std::string& name) {
  return name.empty() ? "" : StrCat("entry ", Quote(name), "\n");
}

Result<std::string> EarlyStage(const CompileArgs& args, DecisionLog* log) {
  AICF_ASSIGN_OR_RETURN(const ImportedModel model, ImportModel(args.model, args.options));
  AICF_ASSIGN_OR_RETURN(const std::vector<Bucket> entries,
                        EntryPointsOf(model.options.shapes, model.options.buckets));
  std::string text;
  for (const Bucket& entry : entries) {
    CompileOptions options = model.options;
    options.shapes = entry.shapes;
    DecisionLog own;
    const Result<std::string> stage = TextOf(args, model.graph, options, &own);
    const std::string label = EntryLabel(model.options.buckets, entry);
    if (!stage.ok()) return label.empty() ? stage.status() : stage.status().WithContext(label);
    log->Append(own, label.empty() ? "" : entry.name, 0);
    text += EntryLine(label.empty() ? "" : entry.name) + *stage;
  }
  return text;
}

bool NeedsPlan(const CompileArgs& args) {
  const CompileOptions& o = args.options;
  return args.stop_after == Stage::kPlan || IsQuantized(o.precision) || !args.from.empty() ||
         o.decisions || !o.sets.empty() || o.policy.NamesSteps();
}

}  // namespace

Result<CompileResult> CompileAsAsked(const CompileArgs& args, const CompileOptions& options) {
  return args.from.empty() ? Compile(args.model, options) : Recompile(args.artifact, options);
}

Result<std::string> StageText(const CompileArgs& args, DecisionLog* log) {
  if (args.stop_after == Stage::kGraph || !NeedsPlan(args)) return EarlyStage(args, log);
  CompileOptions kept = args.options;
  kept.keep_lowered = args.stop_after == Stage::kLowered;
  AICF_ASSIGN_OR_RETURN(const CompileResult result, CompileAsAsked(args, kept));
  *log = result.decisions;
  if (args.stop_after == Stage::kPlan) return schema::ToString(result.contents.program);
  std::string text;
  for (const auto& [entry, lowered] : result.optimised) {
    text += EntryLine(entry) + ir::ToString(lowered);
  }
  return text;
}

}  // namespace aicf::tools
