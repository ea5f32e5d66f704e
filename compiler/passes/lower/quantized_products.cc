// Matrix products of quantised operands: one gemm with i32 sums, everything else in its epilogue.
#include "compiler/ir/views.h"
#include "compiler/passes/lower/integer_operand.h"
#include "compiler/passes/lower/lowerings.h"
#include "compiler/passes/lower/products.h"
#include "compiler/passes/lower/quantize_expr.h"
#include "compiler/passes/lower/requantize.h"
#include "kernels/abi/raw_dtype.h"

namespace aicf {
namespace {

using abi::ExprOp;

// Inputs of a node that multiplies a and b.
struct Operands {
  ir::ValueId a, a_zero, b, b_zero;
};

// The shape in which a parameter of a matrix (one element, one per row or one per column)
// broadcasts to it: a vector with one element per row becomes a column.
Dims MatrixShape(const Dims& parameter, bool rows) {
  if (ElementCount(parameter) == 1) return {};
  return rows && parameter.rank() == 1 ? Dims{parameter[0], 1} : parameter;
}

Place PlaceOf(const MatMulViews& views, bool rows) {
  return [&views, rows](const abi::View& v) {
    return views.Follow(*ir::Reshape(v, MatrixShape(v.shape, rows)));
  };
}

// One product under construction.
class IntegerProduct {
 public:
  // row_parameters: an epilogue operand differs between rows.
  IntegerProduct(LowerContext& ctx, const ir::Node& node, const Operands& in, bool row_parameters)
      : ctx_(ctx), node_(node), in_(in), expr_(1) {
    right_ = WithoutZeroPoint(ctx, node, in.b, in.b_zero, ShapeOf(in.b_zero, false));
    // sum (a - z) b = sum a b - z sum b. The last sum is known when compiling, so the correction is
    // a term of the epilogue and no step touches a before.
    corrected_ = right_.constant.has_data() && right_.view.view.shape.rank() >= 2 &&
                 !ctx.value(in.a).is_constant() && !IsFloat(ctx.value(in.a).dtype) &&
                 !IsZeroOrAbsent(ctx, in.a_zero);
    left_ = corrected_ ? QuantizedOperand{ctx.Get(in.a), {}}
                       : WithoutZeroPoint(ctx, node, in.a, in.a_zero, ShapeOf(in.a_zero, true));
    out_ = ctx.Define(node.outputs[0]);
    const bool by_row = row_parameters || (corrected_ && !IsOne(in.a_zero));
    views_ = MatMulOf(left_.view.view, right_.view.view, out_.view, !by_row);
    problem_.family = abi::Family::kGemm;
    problem_.attrs = abi::GemmAttrs{};
    problem_.inputs = {views_.left, views_.right};
  }
  IntegerProduct(const IntegerProduct&) = delete;

  OperandExpr& expr() { return expr_; }
  const MatMulViews& views() const { return views_; }
  const Dims& domain() const { return views_.result.shape; }

  // The exact sums: i32, or f32 for float8 operands.
  uint16_t Sums() {
    abi::ExprBuilder& b = expr_.builder();
    uint16_t sums = expr_.Raw(abi::RawDType(problem_));
    if (!corrected_) return sums;
    const uint16_t zero = b.Cast(
        LoadParameter(ctx_, expr_, in_.a_zero, domain(), PlaceOf(views_, true)), DType::kI32);
    const ValueView columns =
        ctx_.Constant(StrCat(ctx_.value(in_.b).name, " column sums"), ColumnSums(right_.constant));
    const uint16_t by = expr_.Load({columns.buffer, views_.Follow(columns.view)});
    return b.Binary(ExprOp::kSub, sums, b.Binary(ExprOp::kMul, zero, by));
  }

  void Emit(uint16_t result) {
    EmitWithEpilogue(ctx_, node_, std::move(problem_), {left_.view.buffer, right_.view.buffer},
                     expr_, result, {out_.buffer, views_.result});
  }

 private:
  bool IsOne(ir::ValueId id) const { return ElementCount(ctx_.value(id).shape) == 1; }
  Dims ShapeOf(ir::ValueId zero, bool rows) const {
    return zero == ir::kNoValue ? Dims() : MatrixShape(ctx_.value(zero).shape, rows);
  }

  LowerContext& ctx_;
  const ir::Node& node_;
  const Operands in_;
  OperandExpr expr_;
  QuantizedOperand left_, right_;
  bool corrected_ = false;
  ValueView out_;
  MatMulViews views_;
  abi::Problem problem_;
};

}  // namespace

Status LowerMatMulInteger(LowerContext& ctx, const ir::Node& node) {
  IntegerProduct product(ctx, node, {node.inputs[0], node.input(2), node.inputs[1], node.input(3)},
                         false);
  product.Emit(product.Sums());
  return OkStatus();
}

// Inputs: a, its scale and zero point; b, its scale and zero point; the result's scale and zero
// point.
Status LowerQLinearMatMul(LowerContext& ctx, const ir::Node& node) {
  const auto& in = node.inputs;
  const bool by_row = ElementCount(ctx.value(in[1]).shape) != 1;
  IntegerProduct product(ctx, node, {in[0], in[2], in[3], in[5]}, by_row);
  const ScaledProduct scales{in[1], in[4], in[6], PlaceOf(product.views(), true),
                             PlaceOf(product.views(), false)};
  OperandExpr& expr = product.expr();
  const uint16_t value = Scaled(ctx, expr, scales, product.Sums(), product.domain());
  std::optional<uint16_t> zero;
  if (!IsZeroOrAbsent(ctx, in[7])) zero = LoadParameter(ctx, expr, in[7], product.domain(), {});
  product.Emit(Quantized(expr.builder(), value, zero, ctx.value(node.outputs[0]).dtype));
  return OkStatus();
}

}  // namespace aicf
