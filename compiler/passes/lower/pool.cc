#include "compiler/ir/infer/infer.h"
#include "compiler/passes/lower/lowerings.h"
#include "compiler/passes/lower/operand_expr.h"

namespace aicf {

Status LowerPool(LowerContext& ctx, const ir::Node& node) {
  const ValueView x = ctx.Get(node.inputs[0]);
  AICF_ASSIGN_OR_RETURN(const ir::Window window, ir::ResolveWindow(ctx.graph(), node));
  abi::PoolAttrs attrs;
  attrs.kind = node.op == "MaxPool"       ? abi::PoolKind::kMax
               : node.op == "AveragePool" ? abi::PoolKind::kAverage
                                          : abi::PoolKind::kLp;
  attrs.kernel = window.kernel;
  attrs.strides = window.strides;
  attrs.dilations = window.dilations;
  attrs.pads_begin = window.pads_begin;
  attrs.pads_end = window.pads_end;
  attrs.count_include_pad = node.Int("count_include_pad", 0) != 0;
  attrs.p = node.Int("p", 2);
  abi::Problem p;
  p.family = abi::Family::kPool;
  p.attrs = attrs;
  p.inputs = {x.view};
  EmitPlain(ctx, node, std::move(p), {x.buffer}, ctx.DefineLike(node.outputs[0], x));
  return OkStatus();
}

Status LowerGlobalPool(LowerContext& ctx, const ir::Node& node) {
  const ValueView x = ctx.Get(node.inputs[0]);
  abi::ReduceAttrs attrs;
  attrs.kind = node.op == "GlobalMaxPool" ? abi::ReduceKind::kMax : abi::ReduceKind::kMean;
  for (int i = 2; i < x.view.shape.rank(); ++i) attrs.axes.push_back(i);
  abi::Problem p;
  p.family = abi::Family::kReduce;
  p.attrs = attrs;
  p.inputs = {x.view};
  EmitPlain(ctx, node, std::move(p), {x.buffer}, ctx.DefineLike(node.outputs[0], x));
  return OkStatus();
}

}  // namespace aicf
