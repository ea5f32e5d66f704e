#include "compiler/passes/lower/quantize_expr.h"

#include <cmath>

#include "compiler/passes/lower/elementwise_table.h"

namespace aicf {

using abi::ExprBuilder;
using abi::ExprOp;

namespace {

int BitsOf(DType d) {
  switch (d) {
    case DType::kI4:
    case DType::kU4:
      return 4;
    case DType::kI2:
    case DType::kU2:
      return 2;
    default:
      return static_cast<int>(DTypeBytes(d)) * 8;
  }
}

}  // namespace

uint16_t RoundToFloat(ExprBuilder& b, uint16_t value, DType dtype) {
  if (dtype == DType::kF16) return b.Unary(ExprOp::kRoundF16, value);
  return dtype == DType::kBF16 ? b.Unary(ExprOp::kRoundBF16, value) : value;
}

uint16_t Quantized(ExprBuilder& b, uint16_t value, std::optional<uint16_t> zero, DType to,
                   bool saturate) {
  const DType dtype = b.dtype(value);
  const bool whole = !IsFloat(to);
  if (whole) value = b.Unary(ExprOp::kRound, value);
  if (zero) value = b.Binary(ExprOp::kAdd, value, b.Cast(*zero, dtype));
  if (!whole) return PrepareFloat8(b, value, to, {saturate});
  // Whole numbers of at most 16 bits are exact in every compute dtype, so the ends are too.
  const bool is_signed = KindOf(to) == DTypeKind::kSigned;
  const int bits = BitsOf(to);
  const double low = is_signed ? -std::ldexp(1.0, bits - 1) : 0;
  const double high = std::ldexp(1.0, is_signed ? bits - 1 : bits) - 1;
  value = b.Binary(ExprOp::kMax, value, b.Const(low, dtype));
  value = b.Binary(ExprOp::kMin, value, b.Const(high, dtype));
  return b.Cast(value, abi::ComputeDType(to));
}

}  // namespace aicf
