#include "compiler/passes/lower/lowerings.h"
#include "compiler/passes/lower/operand_expr.h"

namespace aicf {

// Elements are chosen by comparing their coordinates, so no mask is stored. k may be known at run
// time only.
Status LowerTrilu(LowerContext& ctx, const ir::Node& node) {
  const ValueView x = ctx.Get(node.inputs[0]);
  const Dims& shape = x.view.shape;
  OperandExpr expr(0);
  abi::ExprBuilder& b = expr.builder();
  const uint16_t value = expr.Load(x);
  const uint16_t column = b.Index(shape.rank() - 1);
  uint16_t diagonal = b.Index(shape.rank() - 2);
  if (node.input(1) != ir::kNoValue) {
    const uint16_t k = b.Cast(LoadValue(ctx, expr, node.inputs[1], shape), DType::kI64);
    diagonal = b.Binary(abi::ExprOp::kAdd, diagonal, k);
  }
  const bool upper = node.Int("upper", 1) != 0;
  const uint16_t kept = upper ? b.Binary(abi::ExprOp::kLe, diagonal, column)
                              : b.Binary(abi::ExprOp::kLe, column, diagonal);
  const DType dtype = b.dtype(value);
  const uint16_t zero = IsFloat(dtype) ? b.Const(0, dtype) : b.ConstInt(0, dtype);
  EmitElementwise(ctx, node, expr, b.Select(kept, value, zero), ctx.DefineLike(node.outputs[0], x));
  return OkStatus();
}

}  // namespace aicf
