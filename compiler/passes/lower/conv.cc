#include "compiler/ir/infer/infer.h"
#include "compiler/ir/views.h"
#include "compiler/passes/lower/lowerings.h"
#include "compiler/passes/lower/operand_expr.h"
#include "compiler/passes/lower/products.h"

namespace aicf {
Status LowerConv(LowerContext& ctx, const ir::Node& node) {
  const bool transposed = node.op == "ConvTranspose";
  const ValueView x = ctx.Get(node.inputs[0]);
  const Dims& out_shape = ctx.value(node.outputs[0]).shape;
  AICF_ASSIGN_OR_RETURN(const ir::Window window, ir::ResolveWindow(ctx.graph(), node));
  const ValueView w = ctx.Get(node.inputs[1]);
  const ValueView out = ctx.DefineChannelsLast(node, node.outputs[0]);
  abi::Problem p;
  p.family = abi::Family::kConv;
  p.attrs = abi::ConvAttrs{window.strides,  window.dilations, window.pads_begin,
                           window.pads_end, window.group,     transposed};
  p.inputs = {x.view, w.view};
  OperandExpr expr(1);
  uint16_t value = expr.Raw(x.view.dtype);
  if (node.input(2) != ir::kNoValue) {
    const ValueView bias = PerChannel(ctx.Get(node.inputs[2]), out_shape);
    value = expr.builder().Binary(abi::ExprOp::kAdd, value, expr.Load(bias));
  }
  EmitWithEpilogue(ctx, node, std::move(p), {x.buffer, w.buffer}, expr, value, out);
  return OkStatus();
}

}  // namespace aicf
