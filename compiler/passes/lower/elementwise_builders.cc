#include "compiler/passes/lower/elementwise_table.h"

namespace aicf {

using abi::ExprOp;

uint16_t BuildClip(const ElementwiseArgs& a) {
  uint16_t value = a.in[0];
  if (a.has(1)) value = a.b.Binary(ExprOp::kMax, value, a.in[1]);
  if (a.has(2)) value = a.b.Binary(ExprOp::kMin, value, a.in[2]);
  return value;
}

namespace {

// Operands are built one statement at a time. C++ does not say in which order arguments are
// evaluated, and the numbering of nodes must not depend on the compiler.

uint16_t Scaled(const ElementwiseArgs& a, uint16_t x, double factor) {
  return a.b.Binary(ExprOp::kMul, x, a.Const(factor));
}

uint16_t Plus(const ElementwiseArgs& a, uint16_t x, double addend) {
  return a.b.Binary(ExprOp::kAdd, x, a.Const(addend));
}

// alpha * (exp(x) - 1)
uint16_t ScaledExpMinusOne(const ElementwiseArgs& a, uint16_t x, double alpha) {
  const uint16_t exponential = a.b.Unary(ExprOp::kExp, x);
  return Scaled(a, a.b.Binary(ExprOp::kSub, exponential, a.Const(1)), alpha);
}

// x < 0 ? below : above
uint16_t IfNegative(const ElementwiseArgs& a, uint16_t below, uint16_t above) {
  return a.b.Select(a.b.Binary(ExprOp::kLt, a.in[0], a.Const(0)), below, above);
}

// min(max(alpha * x + beta, 0), 1)
uint16_t HardSigmoid(const ElementwiseArgs& a, double alpha, double beta) {
  const uint16_t line = Plus(a, Scaled(a, a.in[0], alpha), beta);
  const uint16_t above = a.b.Binary(ExprOp::kMax, line, a.Const(0));
  return a.b.Binary(ExprOp::kMin, above, a.Const(1));
}

}  // namespace

uint16_t BuildElu(const ElementwiseArgs& a) {
  return IfNegative(a, ScaledExpMinusOne(a, a.in[0], a.node.Float("alpha", 1)), a.in[0]);
}

uint16_t BuildSelu(const ElementwiseArgs& a) {
  const double alpha = a.node.Float("alpha", 1.67326319217681884765625);
  const double gamma = a.node.Float("gamma", 1.05070102214813232421875);
  return Scaled(a, IfNegative(a, ScaledExpMinusOne(a, a.in[0], alpha), a.in[0]), gamma);
}

uint16_t BuildCelu(const ElementwiseArgs& a) {
  const double alpha = a.node.Float("alpha", 1);
  const uint16_t scaled = a.b.Binary(ExprOp::kDiv, a.in[0], a.Const(alpha));
  return IfNegative(a, ScaledExpMinusOne(a, scaled, alpha), a.in[0]);
}

namespace {

// x / 2 * (1 + tanh(u)) with u = sqrt(2 / pi) * (x + 0.044715 * x^3), as x * sigmoid(2 * u): the
// sum of 1 and a tanh near -1 would lose its digits, and takes longer.
uint16_t GeluTanh(const ElementwiseArgs& a, uint16_t x) {
  constexpr double kOfX = 1.5957691216057308, kOfCube = kOfX * 0.044715;
  const uint16_t square = a.b.Binary(ExprOp::kMul, x, x);
  const uint16_t factor = Plus(a, Scaled(a, square, kOfCube), kOfX);
  const uint16_t gate = a.b.Unary(ExprOp::kSigmoid, a.b.Binary(ExprOp::kMul, factor, x));
  return a.b.Binary(ExprOp::kMul, x, gate);
}

}  // namespace

uint16_t BuildGelu(const ElementwiseArgs& a) {
  const uint16_t x = a.in[0];
  if (a.node.Str("approximate", "none") == "tanh") return GeluTanh(a, x);
  const uint16_t inner = a.b.Unary(ExprOp::kErf, Scaled(a, x, 0.7071067811865476));
  return a.b.Binary(ExprOp::kMul, Scaled(a, x, 0.5), Plus(a, inner, 1));
}

uint16_t BuildHardSigmoid(const ElementwiseArgs& a) {
  return HardSigmoid(a, a.node.Float("alpha", 0.2), a.node.Float("beta", 0.5));
}

uint16_t BuildHardSwish(const ElementwiseArgs& a) {
  return a.b.Binary(ExprOp::kMul, a.in[0], HardSigmoid(a, 1.0 / 6.0, 0.5));
}

uint16_t BuildIsInf(const ElementwiseArgs& a) {
  const bool positive = a.node.Int("detect_positive", 1) != 0;
  const bool negative = a.node.Int("detect_negative", 1) != 0;
  const uint16_t infinite = a.b.Unary(ExprOp::kIsInf, a.in[0]);
  if (positive && negative) return infinite;
  if (!positive && !negative) return a.b.ConstInt(0, DType::kBool);
  const uint16_t zero = a.Const(0);
  const uint16_t sign =
      positive ? a.b.Binary(ExprOp::kLt, zero, a.in[0]) : a.b.Binary(ExprOp::kLt, a.in[0], zero);
  return a.b.Binary(ExprOp::kAnd, infinite, sign);
}

uint16_t BuildLeakyRelu(const ElementwiseArgs& a) {
  return IfNegative(a, Scaled(a, a.in[0], a.node.Float("alpha", 0.01)), a.in[0]);
}

uint16_t BuildPRelu(const ElementwiseArgs& a) {
  return IfNegative(a, a.b.Binary(ExprOp::kMul, a.in[1], a.in[0]), a.in[0]);
}

uint16_t BuildMean(const ElementwiseArgs& a) {
  uint16_t sum = a.in[0];
  for (size_t i = 1; i < a.in.size(); ++i) sum = a.b.Binary(ExprOp::kAdd, sum, a.in[i]);
  return a.b.Binary(ExprOp::kDiv, sum, a.Const(static_cast<double>(a.in.size())));
}

uint16_t BuildMish(const ElementwiseArgs& a) {
  const uint16_t soft = a.b.Unary(ExprOp::kSoftplus, a.in[0]);
  return a.b.Binary(ExprOp::kMul, a.in[0], a.b.Unary(ExprOp::kTanh, soft));
}

uint16_t BuildSoftsign(const ElementwiseArgs& a) {
  const uint16_t magnitude = Plus(a, a.b.Unary(ExprOp::kAbs, a.in[0]), 1);
  return a.b.Binary(ExprOp::kDiv, a.in[0], magnitude);
}

uint16_t BuildSwish(const ElementwiseArgs& a) {
  const double alpha = a.node.Float("alpha", 1);
  const uint16_t inner = alpha == 1 ? a.in[0] : Scaled(a, a.in[0], alpha);
  return a.b.Binary(ExprOp::kMul, a.in[0], a.b.Unary(ExprOp::kSigmoid, inner));
}

uint16_t BuildThresholdedRelu(const ElementwiseArgs& a) {
  const uint16_t alpha = a.Const(a.node.Float("alpha", 1));
  const uint16_t above = a.b.Binary(ExprOp::kLt, alpha, a.in[0]);
  return a.b.Select(above, a.in[0], a.Const(0));
}

namespace {

// The dtype a power is computed in: wide enough for both operands; floats win over integers.
DType PowDType(DType base, DType exponent) {
  if (base == exponent || (IsInteger(base) && IsInteger(exponent))) return base;
  if (IsFloat(base) && IsInteger(exponent)) return base;
  if (IsFloat(base) && IsFloat(exponent)) return DType::kF64;  // f32 and f64, either way round
  return DType::kF64;                                          // an integer to a fractional power
}

}  // namespace

uint16_t BuildPow(const ElementwiseArgs& a) {
  const DType base = a.dtype();
  const DType compute = PowDType(base, a.b.dtype(a.in[1]));
  const uint16_t x = a.b.Cast(a.in[0], compute);
  const uint16_t y = a.b.Cast(a.in[1], compute);
  return a.b.Cast(a.b.Binary(ExprOp::kPow, x, y), base);
}

}  // namespace aicf
