#include "compiler/passes/lower/lower.h"

#include "compiler/ir/op_table.h"

namespace aicf {

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
    const Status status = op->lower(ctx, node);
    if (!status.ok()) return status.WithContext(StrCat("node '", node.name, "' (", node.op, ")"));
    ctx.FinishOutputs(node);
  }
  ctx.Finish(extents);
  return lowered;
}

}  // namespace aicf
