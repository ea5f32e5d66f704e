// Rows of the elementwise table on bits, and piecewise ones.
#include "compiler/passes/lower/elementwise_table.h"

namespace aicf {

using abi::ExprOp;

uint16_t BuildBitShift(const ElementwiseArgs& a) {
  const bool left = a.node.Str("direction", "") == "LEFT";
  return a.b.Binary(left ? ExprOp::kShl : ExprOp::kShr, a.in[0], a.in[1]);
}

// x + bias below -lambd, x - bias above lambd, 0 between; integers in double.
uint16_t BuildShrink(const ElementwiseArgs& a) {
  const DType dtype = IsFloat(a.dtype()) ? a.dtype() : DType::kF64;
  const uint16_t x = a.b.Cast(a.in[0], dtype);
  const double lambd = a.node.Float("lambd", 0.5);
  const uint16_t bias = a.b.Const(a.node.Float("bias", 0), dtype);
  const uint16_t below = a.b.Binary(ExprOp::kAdd, x, bias);
  const uint16_t above = a.b.Binary(ExprOp::kSub, x, bias);
  const uint16_t low = a.b.Binary(ExprOp::kLt, x, a.b.Const(-lambd, dtype));
  const uint16_t high = a.b.Binary(ExprOp::kLt, a.b.Const(lambd, dtype), x);
  const uint16_t rest = a.b.Select(high, above, a.b.Const(0, dtype));
  return a.b.Cast(a.b.Select(low, below, rest), a.dtype());
}

// a * sigmoid(alpha * a) * b
uint16_t BuildSwiGLU(const ElementwiseArgs& a) {
  const double alpha = a.node.Float("alpha", 1);
  uint16_t scaled = a.in[0];
  if (alpha != 1) scaled = a.b.Binary(ExprOp::kMul, scaled, a.Const(alpha));
  const uint16_t gate = a.b.Unary(ExprOp::kSigmoid, scaled);
  return a.b.Binary(ExprOp::kMul, a.b.Binary(ExprOp::kMul, a.in[0], gate), a.in[1]);
}

}  // namespace aicf
