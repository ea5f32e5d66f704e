// Cast: conversions between all storage dtypes. Where a value is narrower than the dtype in which
// an expression computes, the expression itself narrows it, and not only the store: a model that
// asks for a narrow value gets it even when a later pass keeps the result in a register. Float8 and
// float4 have no operator for that; their buffers are never fused away (CheckProducer in
// lowered/fuse.cc).
#include "base/float8.h"
#include "compiler/passes/lower/elementwise_table.h"

namespace aicf {

using abi::ExprBuilder;
using abi::ExprOp;

namespace {

// The low bits of an integer, sign- or zero-extended.
uint16_t LowBits(ExprBuilder& b, uint16_t a, DType to) {
  const int bits = to == DType::kI4 || to == DType::kU4 ? 4 : 2;
  const DType compute = abi::ComputeDType(to);
  // A direct cast to i8 would saturate floats out of its range. What is wanted are the low bits of
  // the whole number.
  if (IsFloat(b.dtype(a))) a = b.Cast(a, DType::kI32);
  a = b.Cast(a, compute);
  if (compute == DType::kU8) return b.Binary(ExprOp::kAnd, a, b.ConstInt((1 << bits) - 1, compute));
  const uint16_t shift = b.ConstInt(8 - bits, compute);
  return b.Binary(ExprOp::kShr, b.Binary(ExprOp::kShl, a, shift), shift);
}

// Moves |a| so that the store, which rounds to the nearest power of two and ties upwards, gives the
// power of two that is asked for.
uint16_t PrepareScale(ExprBuilder& b, uint16_t a, const Float8Rounding& how) {
  const auto constant = [&](double v) { return b.Const(v, DType::kF32); };
  a = b.Unary(ExprOp::kAbs, a);
  if (how.saturate) a = b.Binary(ExprOp::kMin, a, constant(0x1p127));
  if (how.mode == "down") return b.Binary(ExprOp::kMul, a, constant(0.75));
  if (how.mode != "up") return a;
  // The factor is just below 1.5: a power of two stays below the middle to the next one, and the
  // number after it reaches the middle.
  const uint16_t moved = b.Binary(ExprOp::kMul, a, constant(1.5 - 0x1p-23));
  // Among the denormals the product is rounded to the wrong side.
  const uint16_t least = constant(0x1p-127);
  return b.Select(b.Binary(ExprOp::kLe, a, least), least, moved);
}

}  // namespace

uint16_t PrepareFloat8(ExprBuilder& b, uint16_t a, DType to, const Float8Rounding& how) {
  a = b.Cast(a, DType::kF32);
  if (to == DType::kF8E8M0) return PrepareScale(b, a, how);
  if (!how.saturate || to == DType::kF4E2M1) return a;
  const double most = Float8ToF32(Float8FormatOf(to).max, to);
  a = b.Binary(ExprOp::kMax, a, b.Const(-most, DType::kF32));
  return b.Binary(ExprOp::kMin, a, b.Const(most, DType::kF32));
}

uint16_t BuildCast(const ElementwiseArgs& a) {
  const DType to = a.out;
  if (!IsStorageOnly(to)) {
    const uint16_t value = a.b.Cast(a.in[0], abi::ComputeDType(to));
    if (to == DType::kF16) return a.b.Unary(ExprOp::kRoundF16, value);
    return to == DType::kBF16 ? a.b.Unary(ExprOp::kRoundBF16, value) : value;
  }
  if (!IsFloat(to)) return LowBits(a.b, a.in[0], to);
  const std::string mode = a.node.Str("round_mode", "up");
  return PrepareFloat8(a.b, a.in[0], to, {a.node.Int("saturate", 1) != 0, mode});
}

}  // namespace aicf
