// Ops whose result is known once shapes are.
#include <algorithm>

#include "base/scanner.h"
#include "compiler/ir/views.h"
#include "compiler/passes/lower/lowerings.h"
#include "compiler/passes/lower/operand_expr.h"

namespace aicf {

Status LowerConstantOfShape(LowerContext& ctx, const ir::Node& node) {
  const ir::Value& out = ctx.value(node.outputs[0]);
  const float zero = 0;
  ir::Tensor element = ir::Tensor::FromValues<float>(DType::kF32, {1}, std::span(&zero, 1));
  const auto attr = node.attrs.find("value");
  if (attr != node.attrs.end()) element = std::get<ir::Tensor>(attr->second).Reshaped({1});
  ValueView view = ctx.Constant(out.name, element);
  view.view = ir::BroadcastTo(view.view, out.shape.empty() ? Dims{1} : out.shape);
  view.view = *ir::Reshape(view.view, out.shape);
  ctx.Alias(node.outputs[0], view);
  return OkStatus();
}

Status LowerRange(LowerContext& ctx, const ir::Node& node) {
  const ir::ValueId out = node.outputs[0];
  const Dims& shape = ctx.value(out).shape;
  const DType dtype = abi::ComputeDType(ctx.value(out).dtype);
  OperandExpr expr(0);
  abi::ExprBuilder& b = expr.builder();
  const uint16_t start = LoadValue(ctx, expr, node.inputs[0], shape);
  const uint16_t delta = LoadValue(ctx, expr, node.inputs[2], shape);
  const uint16_t steps = b.Binary(abi::ExprOp::kMul, b.Cast(b.Index(0), dtype), delta);
  EmitElementwise(ctx, node, expr, b.Binary(abi::ExprOp::kAdd, start, steps), ctx.Define(out));
  return OkStatus();
}

namespace {

void AliasInts(LowerContext& ctx, ir::ValueId id, const Dims& shape, std::vector<int64_t> values) {
  const ir::Tensor tensor = ir::Tensor::FromValues<int64_t>(DType::kI64, shape, values);
  ctx.Alias(id, ctx.Constant(ctx.value(id).name, tensor));
}

}  // namespace

// Shape inference expands these; one that is still here is a bug.
Status LowerExpanded(LowerContext&, const ir::Node& node) {
  return Error(Code::kInternal, node.op, " ", Quote(node.name), " was not expanded");
}

Status LowerShapeOf(LowerContext& ctx, const ir::Node& node) {
  const Dims& shape = ctx.value(node.inputs[0]).shape;
  const int64_t rank = shape.rank();
  auto clamp = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank); };
  const int64_t start = clamp(node.Int("start", 0));
  const int64_t end = std::max(start, clamp(node.Int("end", rank)));
  AliasInts(ctx, node.outputs[0], {end - start},
            std::vector<int64_t>(shape.begin() + start, shape.begin() + end));
  return OkStatus();
}

Status LowerSizeOf(LowerContext& ctx, const ir::Node& node) {
  AliasInts(ctx, node.outputs[0], {}, {*ElementCount(ctx.value(node.inputs[0]).shape)});
  return OkStatus();
}

}  // namespace aicf
