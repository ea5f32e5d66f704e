// Convolutions of quantised operands: one convolution with i32 sums, scales, rounding and zero
// point in its epilogue.
#include "compiler/ir/infer/infer.h"
#include "compiler/passes/lower/integer_operand.h"
#include "compiler/passes/lower/lowerings.h"
#include "compiler/passes/lower/pad.h"
#include "compiler/passes/lower/products.h"
#include "compiler/passes/lower/quantize_expr.h"
#include "compiler/passes/lower/requantize.h"
#include "kernels/abi/raw_dtype.h"

namespace aicf {
namespace {

// The shape in which a zero point of the weights [O, C, ..], one per filter or one number,
// broadcasts to them.
Dims WeightShape(LowerContext& ctx, ir::ValueId zero, int rank) {
  if (zero == ir::kNoValue || ElementCount(ctx.value(zero).shape) == 1) return {};
  Dims shape = Dims::Filled(rank, 1);
  shape[0] = ctx.value(zero).shape[0];
  return shape;
}

// One convolution under construction.
class IntegerConv {
 public:
  // Which inputs of the node are the weights and the two zero points.
  struct Inputs {
    size_t w, x_zero, w_zero;
  };

  IntegerConv(LowerContext& ctx, const ir::Node& node, const ir::Window& window, Inputs in)
      : ctx_(ctx), zero_(node.input(in.x_zero)), expr_(1) {
    const ir::ValueId weights = node.inputs[in.w], w_zero = node.input(in.w_zero);
    const int rank = ctx.value(weights).shape.rank();
    w_name_ = ctx.value(weights).name;
    held_ = WithoutZeroPoint(ctx, node, weights, w_zero, WeightShape(ctx, w_zero, rank));
    w_ = held_.constant.has_data() ? ctx.Constant(ctx.value(weights).name, held_.constant)
                                   : held_.view;
    abi::ConvAttrs attrs{window.strides,  window.dilations, window.pads_begin,
                         window.pads_end, window.group,     false};
    const ir::Value& x = ctx.value(node.inputs[0]);
    // sum (x - z) w = sum x w - z sum w. The last sum is known when compiling, so the correction is
    // a term of the epilogue and no step touches x before.
    corrected_ = held_.constant.has_data() && !x.is_constant() && !IsFloat(x.dtype) &&
                 !IsZeroOrAbsent(ctx, zero_);
    x_ = corrected_ ? Padded(node, attrs)
                    : WithoutZeroPoint(ctx, node, node.inputs[0], zero_, {}).view;
    problem_.family = abi::Family::kConv;
    problem_.attrs = std::move(attrs);
    problem_.inputs = {x_.view, w_.view};
  }
  IntegerConv(const IntegerConv&) = delete;

  OperandExpr& expr() { return expr_; }

  // The exact sums: i32, or f32 for float8 operands.
  uint16_t Sums(const Dims& domain) {
    abi::ExprBuilder& b = expr_.builder();
    const uint16_t sums = expr_.Raw(abi::RawDType(problem_));
    if (!corrected_) return sums;
    const ir::Tensor by_filter = FilterSums(held_.constant);
    const ir::Tensor& zero = ctx_.value(zero_).constant;
    const std::string name = StrCat(w_name_, " filter sums");
    if (zero.has_data()) {
      const ir::Tensor scaled = Times(by_filter, zero.IntAt(0));
      const ValueView all = ctx_.Constant(StrCat(name, " times zero point"), scaled);
      return b.Binary(abi::ExprOp::kSub, sums, expr_.Load(PerChannel(all, domain)));
    }
    const uint16_t z = b.Cast(LoadParameter(ctx_, expr_, zero_, domain, {}), DType::kI32);
    const uint16_t by = expr_.Load(PerChannel(ctx_.Constant(name, by_filter), domain));
    return b.Binary(abi::ExprOp::kSub, sums, b.Binary(abi::ExprOp::kMul, z, by));
  }

  void Emit(const ir::Node& node, uint16_t result, const ValueView& out) {
    EmitWithEpilogue(ctx_, node, std::move(problem_), {x_.buffer, w_.buffer}, expr_, result, out);
  }

 private:
  // Padding has to contribute nothing to the sums, so it is the zero point. Where x keeps its zero
  // point, the padding is therefore written around x as elements.
  ValueView Padded(const ir::Node& node, abi::ConvAttrs& attrs) {
    const Dims none = Dims::Filled(attrs.pads_begin.rank(), 0);
    if (attrs.pads_begin == none && attrs.pads_end == none) return ctx_.Get(node.inputs[0]);
    const ValueView x =
        PaddedChannelsLast(ctx_, node, node.inputs[0], attrs.pads_begin, attrs.pads_end, zero_);
    attrs.pads_begin = attrs.pads_end = none;
    return x;
  }

  LowerContext& ctx_;
  const ir::ValueId zero_;
  std::string w_name_;
  OperandExpr expr_;
  QuantizedOperand held_;
  ValueView x_, w_;
  bool corrected_ = false;
  abi::Problem problem_;
};

}  // namespace

Status LowerConvInteger(LowerContext& ctx, const ir::Node& node) {
  AICF_ASSIGN_OR_RETURN(const ir::Window window, ir::ResolveWindow(ctx.graph(), node));
  IntegerConv conv(ctx, node, window, {1, 2, 3});
  const ValueView out = ctx.DefineChannelsLast(node, node.outputs[0]);
  conv.Emit(node, conv.Sums(ctx.value(node.outputs[0]).shape), out);
  return OkStatus();
}

// Inputs: x, its scale and zero point; w, its scale and zero point; the result's scale and zero
// point; a bias in units of the product of both scales.
Status LowerQLinearConv(LowerContext& ctx, const ir::Node& node) {
  AICF_ASSIGN_OR_RETURN(const ir::Window window, ir::ResolveWindow(ctx.graph(), node));
  IntegerConv conv(ctx, node, window, {3, 2, 5});
  const ir::Value& result = ctx.value(node.outputs[0]);
  const ValueView out = ctx.DefineChannelsLast(node, node.outputs[0]);
  OperandExpr& expr = conv.expr();
  uint16_t sums = conv.Sums(result.shape);
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
  conv.Emit(node, rounded, out);
  return OkStatus();
}

}  // namespace aicf
