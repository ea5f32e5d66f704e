// Convolutions of quantised operands: one convolution with i32 sums, scales, rounding and zero
// point in its epilogue.
#include "compiler/ir/infer/infer.h"
#include "compiler/passes/lower/integer_operand.h"
#include "compiler/passes/lower/lowerings.h"
#include "compiler/passes/lower/products.h"
#include "compiler/passes/lower/quantize_expr.h"
#include "compiler/passes/lower/requantize.h"

namespace aicf {
namespace {

// A parameter of the weights [O, C, ..] or of one number.
Dims WeightShape(LowerContext& ctx, ir::ValueId zero, int rank) {
  if (zero == ir::kNoValue || ElementCount(ctx.value(zero).shape) == 1) return {};
  Dims shape = Dims::Filled(rank, 1);
  shape[0] = ctx.value(zero).shape[0];
  return shape;
}

struct ConvOperands {
  ValueView x, w;
};

ConvOperands OperandsOf(LowerContext& ctx, const ir::Node& node, size_t w, size_t x_zero,
                        size_t w_zero) {
  const ir::ValueId weights = node.inputs[w];
  // An element of padding is the zero point, which contributes nothing to the sum: with the zero
  // point taken off the data, that is padding with 0.
  const ValueView data = WithoutZeroPoint(ctx, node, node.inputs[0], node.input(x_zero), {}).view;
  const QuantizedOperand held =
      WithoutZeroPoint(ctx, node, weights, node.input(w_zero),
                       WeightShape(ctx, node.input(w_zero), ctx.value(weights).shape.rank()));
  if (!held.constant.has_data()) return {data, held.view};
  return {data, ctx.Constant(ctx.value(weights).name, held.constant)};
}

abi::Problem ProblemOf(const ir::Window& window, const ConvOperands& in) {
  abi::Problem p;
  p.family = abi::Family::kConv;
  p.attrs = abi::ConvAttrs{window.strides,  window.dilations, window.pads_begin,
                           window.pads_end, window.group,     false};
  p.inputs = {in.x.view, in.w.view};
  return p;
}

}  // namespace

Status LowerConvInteger(LowerContext& ctx, const ir::Node& node) {
  AICF_ASSIGN_OR_RETURN(const ir::Window window, ir::ResolveWindow(ctx.graph(), node));
  const ConvOperands in = OperandsOf(ctx, node, 1, 2, 3);
  const ValueView out = ctx.DefineChannelsLast(node, node.outputs[0]);
  EmitPlain(ctx, node, ProblemOf(window, in), {in.x.buffer, in.w.buffer}, out);
  return OkStatus();
}

// Inputs: x, its scale and zero point, w, its own, the result's, and a bias in units of both
// scales.
Status LowerQLinearConv(LowerContext& ctx, const ir::Node& node) {
  AICF_ASSIGN_OR_RETURN(const ir::Window window, ir::ResolveWindow(ctx.graph(), node));
  const ConvOperands in = OperandsOf(ctx, node, 3, 2, 5);
  const ir::Value& result = ctx.value(node.outputs[0]);
  const ValueView out = ctx.DefineChannelsLast(node, node.outputs[0]);
  OperandExpr expr(1);
  uint16_t sums = expr.Raw(DType::kI32);
  if (node.input(8) != ir::kNoValue) {
    const uint16_t bias = expr.Load(PerChannel(ctx.Get(node.inputs[8]), result.shape));
    sums = expr.builder().Binary(abi::ExprOp::kAdd, sums, bias);
  }
  const Place per_channel = [&](const abi::View& v) {
    return PerChannel({0, v}, result.shape).view;
  };
  const ScaledProduct scales{node.inputs[1], node.inputs[4], node.inputs[6], {}, per_channel};
  const uint16_t value = Scaled(ctx, expr, scales, sums, result.shape);
  std::optional<uint16_t> zero;
  if (!IsZeroOrAbsent(ctx, node.inputs[7])) {
    zero = LoadParameter(ctx, expr, node.inputs[7], result.shape, {});
  }
  const uint16_t rounded = Quantized(expr.builder(), value, zero, result.dtype);
  EmitWithEpilogue(ctx, node, ProblemOf(window, in), {in.x.buffer, in.w.buffer}, expr, rounded,
                   out);
  return OkStatus();
}

}  // namespace aicf
