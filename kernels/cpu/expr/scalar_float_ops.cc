#include <cmath>
#include <limits>

#include "base/float16.h"
#include "kernels/cpu/expr/scalar_ops.h"

namespace aicf::cpu {
namespace {

using abi::ExprOp;

double Sigmoid(double x) {
  const double e = std::exp(-std::fabs(x));  // never overflows
  return (x >= 0 ? 1.0 : e) / (1.0 + e);
}

double Softplus(double x) { return std::fmax(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }

double Sign(double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : x; }

double Rsqrt(double x, bool single) {
  const double root = std::sqrt(x);
  return 1.0 / (single ? static_cast<double>(static_cast<float>(root)) : root);
}

double PythonMod(double a, double b) {
  const double r = std::fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

double Min(double a, double b) {
  if (std::isnan(a)) return a;
  return a < b ? a : b;  // b when b is NaN
}

double Max(double a, double b) {
  if (std::isnan(a)) return a;
  return a > b ? a : b;
}

double Propagated(double softplus, double x) { return std::isnan(x) ? x : softplus; }

double Trigonometric(ExprOp op, double a) {
  switch (op) {
    case ExprOp::kSin:
      return std::sin(a);
    case ExprOp::kCos:
      return std::cos(a);
    case ExprOp::kTan:
      return std::tan(a);
    case ExprOp::kAsin:
      return std::asin(a);
    case ExprOp::kAcos:
      return std::acos(a);
    case ExprOp::kAtan:
      return std::atan(a);
    case ExprOp::kSinh:
      return std::sinh(a);
    case ExprOp::kCosh:
      return std::cosh(a);
    case ExprOp::kTanh:
      return std::tanh(a);
    case ExprOp::kAsinh:
      return std::asinh(a);
    case ExprOp::kAcosh:
      return std::acosh(a);
    case ExprOp::kAtanh:
      return std::atanh(a);
    default:
      return std::numeric_limits<double>::quiet_NaN();  // no other operator is unary
  }
}

}  // namespace

double FloatUnary(ExprOp op, double a, bool single) {
  switch (op) {
    case ExprOp::kNeg:
      return -a;
    case ExprOp::kAbs:
      return std::fabs(a);
    case ExprOp::kSign:
      return Sign(a);
    case ExprOp::kExp:
      return std::exp(a);
    case ExprOp::kLog:
      return std::log(a);
    case ExprOp::kSqrt:
      return std::sqrt(a);
    case ExprOp::kRsqrt:
      return Rsqrt(a, single);
    case ExprOp::kRecip:
      return 1.0 / a;
    case ExprOp::kErf:
      return std::erf(a);
    case ExprOp::kSigmoid:
      return Sigmoid(a);
    case ExprOp::kSoftplus:
      return Propagated(Softplus(a), a);
    case ExprOp::kFloor:
      return std::floor(a);
    case ExprOp::kCeil:
      return std::ceil(a);
    case ExprOp::kRound:
      return std::nearbyint(a);
    case ExprOp::kTrunc:
      return std::trunc(a);
    case ExprOp::kRoundF16:
      return F16ToF32(F32ToF16(static_cast<float>(a)));
    case ExprOp::kRoundBF16:
      return BF16ToF32(F32ToBF16(static_cast<float>(a)));
    default:
      return Trigonometric(op, a);
  }
}

double FloatBinary(ExprOp op, double a, double b) {
  switch (op) {
    case ExprOp::kAdd:
      return a + b;
    case ExprOp::kSub:
      return a - b;
    case ExprOp::kMul:
      return a * b;
    case ExprOp::kDiv:
      return a / b;
    case ExprOp::kMod:
      return PythonMod(a, b);
    case ExprOp::kFmod:
      return std::fmod(a, b);
    case ExprOp::kPow:
      return std::pow(a, b);
    case ExprOp::kMin:
      return Min(a, b);
    case ExprOp::kMax:
      return Max(a, b);
    default:
      return std::numeric_limits<double>::quiet_NaN();  // no other operator is binary
  }
}

double FloatFma(double a, double b, double c, bool single) {
  // Through double the sum would round twice; fmaf rounds once.
  if (single) {
    return std::fma(static_cast<float>(a), static_cast<float>(b), static_cast<float>(c));
  }
  return std::fma(a, b, c);
}

}  // namespace aicf::cpu
