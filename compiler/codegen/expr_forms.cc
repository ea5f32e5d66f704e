#include "compiler/codegen/expr_forms.h"

#include <bit>
#include <cmath>

#include "base/status.h"
#include "compiler/codegen/expr_source.h"

namespace aicf {
namespace {

using abi::Expr;
using abi::ExprNode;
using abi::ExprOp;

// The value of an f32 constant.
std::optional<double> ConstantOf(const ExprNode& n) {
  if (n.op != ExprOp::kConst || n.dtype != DType::kF32) return std::nullopt;
  return abi::BitsToFloat(n.imm);
}

// What the node clamps by max or min with this constant; nothing where it does something else.
const ExprNode* Clamped(const Expr& expr, const ExprNode& n, ExprOp op, double bound) {
  if (n.op != op || n.dtype != DType::kF32) return nullptr;
  return ConstantOf(expr.nodes[n.args[1]]) == bound ? &expr.nodes[n.args[0]] : nullptr;
}

bool IsShortInteger(DType d) {
  return d == DType::kI8 || d == DType::kU8 || d == DType::kI16 || d == DType::kU16;
}

std::optional<std::string> SaturatedCast(const Expr& expr, const ExprNode& n) {
  if (n.op != ExprOp::kCast || !IsShortInteger(n.dtype)) return std::nullopt;
  const int bits = static_cast<int>(8 * DTypeBytes(n.dtype));
  const bool is_signed = KindOf(n.dtype) == DTypeKind::kSigned;
  const double least = is_signed ? -std::ldexp(1.0, bits - 1) : 0;
  const double most = std::ldexp(1.0, is_signed ? bits - 1 : bits) - 1;
  const ExprNode& inner = expr.nodes[n.args[0]];
  const ExprNode* below = Clamped(expr, inner, ExprOp::kMin, most);
  if (below == nullptr || Clamped(expr, *below, ExprOp::kMax, least) == nullptr) {
    return std::nullopt;
  }
  const uint16_t value = below->args[0];
  const ExprNode& clamped = expr.nodes[value];
  const bool rounds = clamped.op == ExprOp::kRound && clamped.dtype == DType::kF32;
  return StrCat(rounds ? "ToNearest(" : "TowardsZero(", LocalName(rounds ? clamped.args[0] : value),
                ", ", ComputeTypeName(n.dtype), "())");
}

std::optional<std::string> ConstantQuotient(const Expr& expr, const ExprNode& n) {
  if (n.op != ExprOp::kDiv || n.dtype != DType::kF32) return std::nullopt;
  const std::optional<double> by = ConstantOf(expr.nodes[n.args[1]]);
  if (!by) return std::nullopt;
  const auto divisor = static_cast<float>(*by);
  constexpr uint32_t kSignificand = 0x7fffff;
  const double size = std::fabs(divisor);
  const bool largest = (std::bit_cast<uint32_t>(divisor) & kSignificand) == kSignificand;
  if (!(size >= 0x1p-30 && size <= 0x1p30) || largest) return std::nullopt;
  const ExprNode reciprocal = {
      ExprOp::kConst, DType::kF32, {0, 0, 0}, abi::FloatBits(static_cast<double>(1.0f / divisor))};
  return StrCat("DivideByConstant(", LocalName(n.args[0]), ", ", LocalName(n.args[1]), ", ",
                ConstantText(reciprocal), ")");
}

}  // namespace

std::optional<std::string> ShortForm(const Expr& expr, const ExprNode& node) {
  if (std::optional<std::string> cast = SaturatedCast(expr, node)) return cast;
  return ConstantQuotient(expr, node);
}

}  // namespace aicf
