#include <cmath>

#include "compiler/ir/infer/infer.h"
#include "compiler/ir/views.h"
#include "compiler/passes/lower/lowerings.h"
#include "compiler/passes/lower/operand_expr.h"

namespace aicf {
namespace {

using abi::ExprOp;
using abi::NormalizeKind;

abi::Problem NormalizeProblem(const ValueView& x, NormalizeKind kind, const Dims& axes,
                              double epsilon) {
  abi::Problem p;
  p.family = abi::Family::kNormalize;
  p.attrs = abi::NormalizeAttrs{kind, axes, epsilon};
  p.inputs = {x.view};
  return p;
}

// A per-channel input as an operand of the domain, or as a constant where it has one element.
uint16_t LoadPerChannel(LowerContext& ctx, OperandExpr& expr, ir::ValueId id, const Dims& domain) {
  if (ctx.value(id).shape == Dims{1}) return LoadValue(ctx, expr, id, domain);
  return expr.Load(PerChannel(ctx.Get(id), domain));
}

}  // namespace

Status LowerSoftmax(LowerContext& ctx, const ir::Node& node) {
  const ValueView x = ctx.Get(node.inputs[0]);
  AICF_ASSIGN_OR_RETURN(const int axis,
                        ir::NormalizeAxis(node.Int("axis", -1), x.view.shape.rank()));
  const NormalizeKind kind =
      node.op == "LogSoftmax" ? NormalizeKind::kLogSoftmax : NormalizeKind::kSoftmax;
  EmitPlain(ctx, node, NormalizeProblem(x, kind, {axis}, 0), {x.buffer},
            ctx.DefineLike(node.outputs[0], x));
  return OkStatus();
}

Status LowerLayerNormalization(LowerContext& ctx, const ir::Node& node) {
  const ValueView x = ctx.Get(node.inputs[0]);
  const Dims& shape = x.view.shape;
  AICF_ASSIGN_OR_RETURN(const int axis, ir::NormalizeAxis(node.Int("axis", -1), shape.rank()));
  Dims axes;
  for (int i = axis; i < shape.rank(); ++i) axes.push_back(i);
  OperandExpr expr(1);
  const uint16_t raw = expr.Raw(x.view.dtype);
  const uint16_t scale = LoadValue(ctx, expr, node.inputs[1], shape);
  uint16_t value = expr.builder().Binary(ExprOp::kMul, raw, scale);
  if (node.input(2) != ir::kNoValue) {
    const uint16_t bias = LoadValue(ctx, expr, node.inputs[2], shape);
    value = expr.builder().Binary(ExprOp::kAdd, value, bias);
  }
  const double epsilon = node.Float("epsilon", 1e-5);
  const NormalizeKind kind =
      node.op == "RMSNormalization" ? NormalizeKind::kRmsNorm : NormalizeKind::kLayerNorm;
  EmitWithEpilogue(ctx, node, NormalizeProblem(x, kind, axes, epsilon), {x.buffer}, expr, value,
                   ctx.DefineLike(node.outputs[0], x));
  return OkStatus();
}

Status LowerInstanceNormalization(LowerContext& ctx, const ir::Node& node) {
  const ValueView x = ctx.Get(node.inputs[0]);
  const Dims& shape = x.view.shape;
  Dims axes;
  for (int i = 2; i < shape.rank(); ++i) axes.push_back(i);
  if (axes.empty()) return Error(Code::kUnsupported, "InstanceNormalization without spatial axes");
  OperandExpr expr(1);
  const uint16_t raw = expr.Raw(x.view.dtype);
  const uint16_t scale = LoadPerChannel(ctx, expr, node.inputs[1], shape);
  const uint16_t scaled = expr.builder().Binary(ExprOp::kMul, raw, scale);
  const uint16_t bias = LoadPerChannel(ctx, expr, node.inputs[2], shape);
  const double epsilon = node.Float("epsilon", 1e-5);
  EmitWithEpilogue(ctx, node, NormalizeProblem(x, NormalizeKind::kLayerNorm, axes, epsilon),
                   {x.buffer}, expr, expr.builder().Binary(ExprOp::kAdd, scaled, bias),
                   ctx.DefineLike(node.outputs[0], x));
  return OkStatus();
}

namespace {

bool IsFilledWith(const ir::Value& v, double value) {
  if (!v.is_constant()) return false;
  for (int64_t i = 0; i < v.constant.count(); ++i) {
    if (v.constant.FloatAt(i) != value) return false;
  }
  return true;
}

}  // namespace

// Dividing the channel axis into groups and channels of a group is a view in every axis order. So
// the result is stored like x, channels-last where a convolution is near.
Status LowerGroupNormalization(LowerContext& ctx, const ir::Node& node) {
  const ValueView x = ctx.Get(node.inputs[0]);
  const Dims& shape = x.view.shape;
  const int64_t groups = node.Int("num_groups", 0);
  Dims grouped{shape[0], groups, shape[1] / groups}, axes{2};
  for (int i = 2; i < shape.rank(); ++i) {
    grouped.push_back(shape[i]);
    axes.push_back(i + 1);
  }
  const ValueView in{x.buffer, *ir::Reshape(x.view, grouped)};
  const ValueView made = ctx.DefineLike(node.outputs[0], x);
  const ValueView out{made.buffer, *ir::Reshape(made.view, grouped)};
  abi::Problem p =
      NormalizeProblem(in, NormalizeKind::kLayerNorm, axes, node.Float("epsilon", 1e-5));
  OperandExpr expr(1);
  uint16_t value = expr.Raw(x.view.dtype);
  // Often scale is 1 and bias is 0, because exporters write the parameters of the channels as a
  // product and a sum behind the node.
  if (!IsFilledWith(ctx.value(node.inputs[1]), 1)) {
    const uint16_t scale = LoadPerChannel(ctx, expr, node.inputs[1], grouped);
    value = expr.builder().Binary(ExprOp::kMul, value, scale);
  }
  if (!IsFilledWith(ctx.value(node.inputs[2]), 0)) {
    const uint16_t bias = LoadPerChannel(ctx, expr, node.inputs[2], grouped);
    value = expr.builder().Binary(ExprOp::kAdd, value, bias);
  }
  EmitWithEpilogue(ctx, node, std::move(p), {in.buffer}, expr, value, out);
  return OkStatus();
}

namespace {

bool AllConstant(const LowerContext& ctx, const ir::Node& node) {
  for (size_t i = 1; i < 5; ++i) {
    if (!ctx.value(node.inputs[i]).is_constant()) return false;
  }
  return true;
}

// x * a + s with a = scale / sqrt(var + epsilon) and s = bias - mean * a, computed in f64.
uint16_t FoldedBatchNorm(LowerContext& ctx, const ir::Node& node, OperandExpr& expr, uint16_t x,
                         const Dims& shape) {
  const double epsilon = node.Float("epsilon", 1e-5);
  auto at = [&](size_t input, int64_t c) {
    return ctx.value(node.inputs[input]).constant.FloatAt(c);
  };
  const int64_t channels = shape[1];
  std::vector<float> factor(channels), shift(channels);
  for (int64_t c = 0; c < channels; ++c) {
    const double a = at(1, c) / std::sqrt(at(4, c) + epsilon);
    factor[c] = static_cast<float>(a);
    shift[c] = static_cast<float>(at(2, c) - at(3, c) * a);
  }
  auto load = [&](const std::vector<float>& values, std::string_view what) {
    const ir::Tensor t = ir::Tensor::FromValues<float>(DType::kF32, {channels}, values);
    const ValueView vector = ctx.Constant(StrCat(ctx.value(node.outputs[0]).name, " ", what), t);
    return expr.builder().Cast(expr.Load(PerChannel(vector, shape)), expr.builder().dtype(x));
  };
  const uint16_t scaled = expr.builder().Binary(ExprOp::kMul, x, load(factor, "scale"));
  return expr.builder().Binary(ExprOp::kAdd, scaled, load(shift, "shift"));
}

uint16_t DirectBatchNorm(LowerContext& ctx, const ir::Node& node, OperandExpr& expr, uint16_t x,
                         const Dims& shape) {
  abi::ExprBuilder& b = expr.builder();
  const DType dtype = b.dtype(x);
  auto load = [&](size_t input) {
    return b.Cast(LoadPerChannel(ctx, expr, node.inputs[input], shape), dtype);
  };
  const uint16_t epsilon = b.Const(node.Float("epsilon", 1e-5), dtype);
  const uint16_t variance = b.Binary(ExprOp::kAdd, load(4), epsilon);
  const uint16_t centred = b.Binary(ExprOp::kSub, x, load(3));
  const uint16_t unit = b.Binary(ExprOp::kDiv, centred, b.Unary(ExprOp::kSqrt, variance));
  const uint16_t scaled = b.Binary(ExprOp::kMul, unit, load(1));
  return b.Binary(ExprOp::kAdd, scaled, load(2));
}

}  // namespace

Status LowerBatchNormalization(LowerContext& ctx, const ir::Node& node) {
  const ValueView x = ctx.Get(node.inputs[0]);
  const Dims& shape = x.view.shape;
  if (shape.rank() < 2)
    return Error(Code::kUnsupported, "BatchNormalization without a channel axis");
  OperandExpr expr(0);
  const uint16_t value = expr.Load(x);
  // f64 data keep their precision only in the direct form: the folded factors are f32.
  const bool fold = AllConstant(ctx, node) && x.view.dtype != DType::kF64;
  const uint16_t result = fold ? FoldedBatchNorm(ctx, node, expr, value, shape)
                               : DirectBatchNorm(ctx, node, expr, value, shape);
  EmitElementwise(ctx, node, expr, result, ctx.DefineLike(node.outputs[0], x));
  return OkStatus();
}

}  // namespace aicf
