#include "compiler/source/row_program.h"

#include "compiler/ir/prefix/prefix.h"
#include "compiler/passes/graph/passes.h"
#include "compiler/passes/quantize/transfer.h"
#include "compiler/stages/stages.h"

namespace aicf {
namespace {

// Shapes of one row; empty where the model has no open batch of several.
ShapeMap RowShapes(const ir::Graph& bound, const std::vector<Dims>& shapes) {
  ShapeMap row;
  int64_t batch = 0;
  for (size_t i = 0; i < shapes.size(); ++i) {
    const ir::Value& input = bound.values[bound.inputs[i]];
    Dims shape = shapes[i];
    const bool open = shape.rank() > 0 && input.shape.rank() > 0 && input.shape[0] < 0;
    if (i == 0 && (!open || shape[0] <= 1)) return {};
    if (i == 0) batch = shape[0];
    if (open && shape[0] == batch) shape[0] = 1;
    row.emplace(input.name, shape);
  }
  return row;
}

Result<ir::Graph> Inferred(ir::Graph graph, const ShapeMap& shapes, PassContext& context) {
  AICF_RETURN_IF_ERROR(BindShapes(graph, shapes));
  AICF_RETURN_IF_ERROR(InferAndFold(graph, context));
  return graph;
}

Result<std::optional<ir::Lowered>> TryRow(const ir::Graph& model, const CompileOptions& options,
                                          const Bucket& bucket, const ir::Lowered& lowered) {
  const std::optional<ir::Lowered> none;
  ir::Graph bound = model;
  AICF_RETURN_IF_ERROR(BindValues(bound, options.values));
  AICF_ASSIGN_OR_RETURN(const auto shapes, InputShapes(bound, {bucket}));
  CompileOptions own = options;
  own.shapes = RowShapes(bound, shapes[0]);
  if (own.shapes.empty()) return none;
  DecisionLog unread;
  AICF_ASSIGN_OR_RETURN(PassContext context, ContextFor(own));
  context.decisions = &unread;
  AICF_ASSIGN_OR_RETURN(const ir::Graph whole, Inferred(bound, bucket.shapes, context));
  AICF_ASSIGN_OR_RETURN(const ir::Graph first, Inferred(bound, own.shapes, context));
  if (!ir::CheckPrefix(whole, first).empty()) return none;
  PassRunner runner(RunnerOptions{options.passes.disabled, {}, {}});
  AICF_ASSIGN_OR_RETURN(const ir::Graph graph, PrepareGraph(model, own, runner, context));
  AICF_ASSIGN_OR_RETURN(ir::Lowered row, LowerVerified(graph, own, context));
  if (!quantize::HaveSameProducts(lowered, row)) return none;
  return std::optional<ir::Lowered>(std::move(row));
}

}  // namespace

std::optional<ir::Lowered> RowProgram(const ir::Graph& model, const CompileOptions& options,
                                      const Bucket& bucket, const ir::Lowered& lowered) {
  Result<std::optional<ir::Lowered>> row = TryRow(model, options, bucket, lowered);
  return row.ok() ? *std::move(row) : std::nullopt;
}

}  // namespace aicf
