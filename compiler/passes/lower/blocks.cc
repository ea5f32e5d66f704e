// Weights in blocks, rows that a cache takes in, and categorical draws: one step each.
#include "compiler/ir/block_nodes.h"
#include "compiler/ir/views.h"
#include "compiler/passes/lower/lowerings.h"
#include "compiler/passes/lower/operand_expr.h"
#include "kernels/abi/append.h"

namespace aicf {
namespace {

// Makes the leading axes one where strides allow it: one product with many rows instead of many
// products with few.
abi::View WithRows(const abi::View& v) {
  int64_t rows = 1;
  for (int axis = 0; axis + 1 < v.shape.rank(); ++axis) rows *= v.shape[axis];
  const auto flat = ir::Reshape(v, {rows, v.shape.back()});
  return flat ? *flat : v;
}

// Emits a step whose core operands are the inputs of the node, with an output for each of its
// results.
void EmitWhole(LowerContext& ctx, const ir::Node& node, abi::Problem p) {
  std::vector<ValueView> core;
  for (const ir::ValueId id : node.inputs) core.push_back(ctx.Get(id));
  std::vector<ir::BufferId> inputs, outputs;
  AppendOperands(core, p, inputs);
  p.core_inputs = static_cast<int>(inputs.size());
  for (const ir::ValueId id : node.outputs) {
    if (id == ir::kNoValue) continue;
    const ValueView out = ctx.DefineDense(id);
    p.outputs.push_back(out.view);
    outputs.push_back(out.buffer);
  }
  ctx.Emit(node, std::move(p), std::move(inputs), std::move(outputs));
}

}  // namespace

Status LowerDequantizeBlocks(LowerContext& ctx, const ir::Node& node) {
  const ValueView blocks = ctx.Get(node.inputs[0]);
  abi::Problem p;
  p.family = abi::Family::kDequantize;
  AICF_ASSIGN_OR_RETURN(const BlockFormat format, ir::BlockFormatOf(node));
  p.attrs = abi::DequantizeAttrs{format};
  p.inputs = {blocks.view};
  EmitPlain(ctx, node, std::move(p), {blocks.buffer}, ctx.Define(node.outputs[0]));
  return OkStatus();
}

Status LowerBlockMatMul(LowerContext& ctx, const ir::Node& node) {
  const ValueView x = ctx.Get(node.inputs[0]), blocks = ctx.Get(node.inputs[1]);
  ValueView out = ctx.DefineDense(node.outputs[0]);
  abi::Problem p;
  p.family = abi::Family::kBlockGemm;
  AICF_ASSIGN_OR_RETURN(const BlockFormat format, ir::BlockFormatOf(node));
  p.attrs = abi::BlockGemmAttrs{format};
  const abi::View a = WithRows(x.view);
  out.view = a.shape.rank() == 2 ? WithRows(out.view) : out.view;
  p.inputs = {a, blocks.view};
  EmitPlain(ctx, node, std::move(p), {x.buffer, blocks.buffer}, out);
  return OkStatus();
}

Status LowerRotaryAppend(LowerContext& ctx, const ir::Node& node) {
  abi::Problem p;
  p.family = abi::Family::kAppend;
  const bool turns = node.inputs.size() > abi::kAppendCosine;
  p.attrs =
      abi::AppendAttrs{turns ? ctx.Get(node.inputs[abi::kAppendCosine]).view.shape.back() : 0};
  EmitWhole(ctx, node, std::move(p));
  return OkStatus();
}

Status LowerCategorical(LowerContext& ctx, const ir::Node& node) {
  abi::Problem p;
  p.family = abi::Family::kCategorical;
  abi::CategoricalAttrs attrs;
  attrs.stores = node.inputs.size() > abi::kDrawTable ? 1 : 0;
  p.attrs = attrs;
  EmitWhole(ctx, node, std::move(p));
  return OkStatus();
}

}  // namespace aicf
