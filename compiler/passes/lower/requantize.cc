#include "compiler/passes/lower/requantize.h"

#include <algorithm>
#include <limits>

namespace aicf {
namespace {

using abi::ExprOp;

constexpr double kLargest = std::numeric_limits<float>::max();

bool IsOne(LowerContext& ctx, ir::ValueId id) { return ElementCount(ctx.value(id).shape) == 1; }

// The factors left * right / result of constant scales, of which at most one has more than one
// element.
ir::Tensor ConstantFactors(LowerContext& ctx, const ScaledProduct& p) {
  const ir::Tensor left = ctx.value(p.left).constant, right = ctx.value(p.right).constant;
  const double result = ctx.value(p.result).constant.FloatAt(0);
  const ir::Tensor& many = IsOne(ctx, p.right) ? left : right;
  std::vector<float> factors;
  for (int64_t i = 0; i < many.count(); ++i) {
    const double l = left.FloatAt(left.count() == 1 ? 0 : i);
    const double r = right.FloatAt(right.count() == 1 ? 0 : i);
    factors.push_back(static_cast<float>(std::min(l * r / result, kLargest)));
  }
  return ir::Tensor::FromValues<float>(DType::kF32, many.shape(), std::span<const float>(factors));
}

bool AreConstant(LowerContext& ctx, const ScaledProduct& p) {
  for (ir::ValueId id : {p.left, p.right, p.result}) {
    if (!ctx.value(id).is_constant()) return false;
  }
  return IsOne(ctx, p.left) || IsOne(ctx, p.right);
}

uint16_t ScaleFactor(LowerContext& ctx, OperandExpr& expr, const ScaledProduct& p,
                     const Dims& domain) {
  abi::ExprBuilder& b = expr.builder();
  if (AreConstant(ctx, p)) {
    const ir::Tensor factors = ConstantFactors(ctx, p);
    if (factors.count() == 1) return b.Const(factors.FloatAt(0), DType::kF32);
    const ValueView all = ctx.Constant(StrCat(ctx.value(p.right).name, " factors"), factors);
    return expr.Load({all.buffer, (IsOne(ctx, p.right) ? p.place_left : p.place_right)(all.view)});
  }
  const auto load = [&](ir::ValueId id, const Place& place) {
    return b.Cast(LoadParameter(ctx, expr, id, domain, place), DType::kF64);
  };
  const uint16_t left = load(p.left, p.place_left);
  const uint16_t right = load(p.right, p.place_right);
  const uint16_t product = b.Binary(ExprOp::kMul, left, right);
  const uint16_t factor = b.Binary(ExprOp::kDiv, product, load(p.result, {}));
  return b.Cast(b.Binary(ExprOp::kMin, factor, b.Const(kLargest, DType::kF64)), DType::kF32);
}

}  // namespace

uint16_t LoadParameter(LowerContext& ctx, OperandExpr& expr, ir::ValueId id, const Dims& domain,
                       const Place& place) {
  const ir::Value& v = ctx.value(id);
  if (!IsOne(ctx, id)) {
    const ValueView all = ctx.Get(id);
    return expr.Load({all.buffer, place(all.view)});
  }
  if (v.is_constant()) return LoadValue(ctx, expr, id, domain);
  ValueView one = ctx.Get(id);
  one.view.shape = domain;
  one.view.strides = Dims::Filled(domain.rank(), 0);
  return expr.Load(one);
}

uint16_t Scaled(LowerContext& ctx, OperandExpr& expr, const ScaledProduct& product, uint16_t sums,
                const Dims& domain) {
  abi::ExprBuilder& b = expr.builder();
  const uint16_t factor = ScaleFactor(ctx, expr, product, domain);
  return b.Binary(ExprOp::kMul, b.Cast(sums, DType::kF32), factor);
}

}  // namespace aicf
