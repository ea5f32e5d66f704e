#include "compiler/codegen/expr_forms.h"

#include <algorithm>
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

// The only node that reads node `of`, if it has the operator and reads it first; -1 otherwise.
int OnlyReader(const Expr& expr, int of, ExprOp op) {
  int reader = -1;
  for (size_t i = 0; i < expr.nodes.size(); ++i) {
    const ExprNode& n = expr.nodes[i];
    for (int a = 0; a < abi::ExprOpArity(n.op); ++a) {
      if (n.args[a] != of) continue;
      if (reader >= 0 || a != 0 || n.op != op) return -1;
      reader = static_cast<int>(i);
    }
  }
  const bool result = std::ranges::find(expr.results, of) != expr.results.end();
  return result ? -1 : reader;
}

// Whether the node's value does nothing but become a whole number of at most 18 bits: it is
// rounded, perhaps shifted by a zero point, and clamped.
bool IsRoundedAndClamped(const Expr& expr, int node) {
  constexpr double kMost = 0x1p17;
  const auto next = [&](int of, ExprOp op) {
    const int reader = OnlyReader(expr, of, op);
    if (reader < 0) return -1;
    const std::optional<double> by = ConstantOf(expr.nodes[expr.nodes[reader].args[1]]);
    return by && std::fabs(*by) <= kMost ? reader : -1;
  };
  int value = OnlyReader(expr, node, ExprOp::kRound);
  if (value < 0) return false;
  if (const int shifted = next(value, ExprOp::kAdd); shifted >= 0) value = shifted;
  value = next(value, ExprOp::kMax);
  return value >= 0 && next(value, ExprOp::kMin) >= 0;
}

std::optional<std::string> QuotientToRound(const Expr& expr, const ExprNode& n) {
  if (n.op != ExprOp::kDiv || n.dtype != DType::kF32) return std::nullopt;
  const std::optional<double> by = ConstantOf(expr.nodes[n.args[1]]);
  if (!by || !IsRoundedAndClamped(expr, static_cast<int>(&n - expr.nodes.data()))) {
    return std::nullopt;
  }
  const auto divisor = static_cast<float>(*by);
  constexpr uint32_t kSignificand = 0x7fffff;
  const double size = std::fabs(divisor);
  const bool largest = (std::bit_cast<uint32_t>(divisor) & kSignificand) == kSignificand;
  if (!(size >= 0x1p-30 && size <= 0x1p30) || largest) return std::nullopt;
  const ExprNode reciprocal = {
      ExprOp::kConst, DType::kF32, {0, 0, 0}, abi::FloatBits(static_cast<double>(1.0f / divisor))};
  return StrCat("QuotientToRound(", LocalName(n.args[0]), ", ", LocalName(n.args[1]), ", ",
                ConstantText(reciprocal), ")");
}

}  // namespace

std::optional<std::string> ShortForm(const Expr& expr, const ExprNode& node) {
  if (std::optional<std::string> cast = SaturatedCast(expr, node)) return cast;
  return QuotientToRound(expr, node);
}

}  // namespace aicf
