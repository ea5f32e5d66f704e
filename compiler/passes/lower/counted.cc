// The ops behind data-dependent extents (compiler/ir/dynamic_extent.h).
#include "compiler/passes/lower/lowerings.h"
#include "compiler/passes/lower/operand_expr.h"

namespace aicf {

// aicf.Counted only says something about a value, so it becomes no step. LowerContext::Finish
// exports the count where the value is an output.
Status LowerCounted(LowerContext& ctx, const ir::Node& node) {
  ctx.Alias(node.outputs[0], ctx.Get(node.inputs[0]));
  return OkStatus();
}

Status LowerPositions(LowerContext& ctx, const ir::Node& node) {
  OperandExpr expr(0);
  const uint16_t position = expr.builder().Index(static_cast<int>(node.Int("axis", 0)));
  EmitElementwise(ctx, node, expr, position, ctx.Define(node.outputs[0]));
  return OkStatus();
}

}  // namespace aicf
