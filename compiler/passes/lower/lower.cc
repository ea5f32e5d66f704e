#include "compiler/passes/lower/lower.h"

#include <algorithm>

#include "compiler/ir/op_table.h"
#include "kernels/abi/problem.h"

namespace aicf {

namespace {

// Records that a node became no step: its readers read its operand instead, by other strides.
void RecordNoStep(const ir::Graph& graph, const ir::Node& node, PassContext& context) {
  Decision d = context.About(DecisionKind::kCopy, schema::Subject::Op(node.op, node.name), "lower");
  d.choice = "view";
  d.Because(Reason::kRule,
            "strides over its operand's bytes express the result, so that nothing is moved");
  const auto empty = [&](ir::ValueId v) {
    return v == ir::kNoValue || ElementCount(graph.values[v].shape) == 0;
  };
  if (std::ranges::all_of(node.outputs, empty)) {
    d.choice = "removed";
    d.Because(Reason::kRule, "its results have no elements");
  }
  context.Record(std::move(d));
}

// The standard sets few bounds on attributes, so the rules of a step (a scale must be finite, for
// example) may refuse what inference accepts. The author of the model has to hear of that, so the
// error names the node.
Status CheckSteps(const ir::Lowered& lowered, size_t first, const ir::Node& node) {
  for (size_t s = first; s < lowered.steps.size(); ++s) {
    const Status valid = abi::ValidateProblem(lowered.steps[s].problem);
    if (valid.ok()) continue;
    return Error(Code::kUnsupported, "node '", node.name, "' (", node.op, "): ", valid.message());
  }
  return OkStatus();
}

}  // namespace

Result<ir::Lowered> LowerGraph(const ir::Graph& graph, PassContext& context) {
  AICF_ASSIGN_OR_RETURN(const ir::DynamicExtents extents, ir::FindDynamicExtents(graph));
  ir::Lowered lowered;
  lowered.name = graph.name;
  LowerContext ctx(graph, lowered, context);
  for (const ir::Node& node : graph.nodes) {
    const ir::OpInfo* op = ir::FindOp(node.op);
    if (op == nullptr) {
      return Error(Code::kUnsupported, "node '", node.name, "': op ", node.op, " is unknown");
    }
    const size_t steps = lowered.steps.size();
    const Status status = op->lower(ctx, node);
    if (!status.ok()) return status.WithContext(StrCat("node '", node.name, "' (", node.op, ")"));
    AICF_RETURN_IF_ERROR(CheckSteps(lowered, steps, node));
    if (lowered.steps.size() == steps) RecordNoStep(graph, node, context);
    ctx.FinishOutputs(node);
  }
  ctx.Finish(extents);
  return lowered;
}

}  // namespace aicf
