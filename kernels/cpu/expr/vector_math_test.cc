// Every f32 operator of EvalBlock against libm in double, in units in the last place, on a grid
// over all bit patterns, random patterns, and values around the places where the formulas change.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <random>

#include "kernels/cpu/expr/block_test_util.h"
#include "kernels/cpu/expr/scalar_ops.h"

namespace aicf::cpu {
namespace {

using abi::ExprOp;

/// Distance of `got` from the exact value in ULP of the f32 nearest to it; huge for a wrong class.
double UlpError(double exact, float got) {
  const float nearest = static_cast<float>(exact);
  if (std::isnan(exact)) return std::isnan(got) ? 0 : 1e30;
  if (std::isnan(got)) return 1e30;
  if (std::isinf(nearest) || std::isinf(got)) {
    if (nearest == got) return 0;
    // One may round to infinity where the other is the largest finite value.
    const float finite = std::isinf(nearest) ? got : nearest;
    return std::fabs(finite) == 0x1.fffffep127f ? 1 : 1e30;
  }
  int exponent = 0;
  std::frexp(static_cast<double>(nearest), &exponent);
  const double ulp = std::ldexp(1.0, std::max(exponent, -125) - 24);
  return std::fabs(static_cast<double>(got) - exact) / ulp;
}

/// 2^20 evenly spaced bit patterns, 2^19 random ones and 2^19 of moderate size, and special values.
const std::vector<float>& Inputs() {
  static const std::vector<float> inputs = [] {
    std::vector<float> v;
    for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += 4099) {
      v.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
    }
    std::mt19937 random(1);
    for (int i = 0; i < 1 << 19; ++i)
      v.push_back(std::bit_cast<float>(static_cast<uint32_t>(random())));
    std::uniform_real_distribution<float> moderate(-20, 20);
    for (int i = 0; i < 1 << 19; ++i) v.push_back(moderate(random));
    for (float s : {0.0f,     1.0f,       0x1p-149f,     0x1p-126f,      0x1.fffffep127f,
                    INFINITY, 88.72284f,  89.0f,         103.97f,        104.0f,
                    0x1p-12f, 4.0f,       0.5f,          1.5f,           2.5f,
                    0x1p23f,  8388609.0f, 0x1.921fb6p0f, 0x1.6ac5b2p22f, 1e10f}) {
      for (float near : {std::nextafter(s, -INFINITY), s, std::nextafter(s, INFINITY)}) {
        v.push_back(near);
        v.push_back(-near);
      }
    }
    v.push_back(NAN);
    while (v.size() % 1000 != 0) v.push_back(0.25f);
    return v;
  }();
  return inputs;
}

abi::Expr UnaryExpr(ExprOp op) {
  abi::ExprBuilder b;
  return b.Finish({b.Unary(op, b.Input(0, DType::kF32))});
}

/// Evaluates blocks of 1000 elements: not a multiple of any vector length.
void Evaluate(EvalBlockFn eval, const abi::Expr& expr, std::vector<const float*> inputs, float* out,
              size_t count) {
  for (size_t i = 0; i < count; i += 1000) {
    BlockInput in[2];
    for (size_t k = 0; k < inputs.size(); ++k) in[k] = {inputs[k] + i, 0, 1, DType::kF32};
    const BlockOutput o{out + i, 0, 1, DType::kF32};
    eval(expr, 1, 1000, in, &o, nullptr);
  }
}

TEST(VectorMath, UnaryWithinTwoUlp) {
  constexpr ExprOp kOps[] = {
      ExprOp::kNeg,      ExprOp::kAbs,   ExprOp::kSign,    ExprOp::kExp,      ExprOp::kLog,
      ExprOp::kSqrt,     ExprOp::kRecip, ExprOp::kSin,     ExprOp::kCos,      ExprOp::kTan,
      ExprOp::kTanh,     ExprOp::kErf,   ExprOp::kSigmoid, ExprOp::kSoftplus, ExprOp::kFloor,
      ExprOp::kCeil,     ExprOp::kRound, ExprOp::kTrunc,   ExprOp::kRsqrt,    ExprOp::kRoundF16,
      ExprOp::kRoundBF16};
  const std::vector<float>& x = Inputs();
  std::vector<float> y(x.size());
  std::vector<double> exact(x.size());
  for (ExprOp op : kOps) {
    for (size_t i = 0; i < x.size(); ++i) {
      exact[i] = FloatUnary(op, static_cast<double>(x[i]), true);
    }
    for (const NamedEval& eval : RunnableEvals()) {
      Evaluate(eval.fn, UnaryExpr(op), {x.data()}, y.data(), x.size());
      double worst = 0;
      float at = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        const double error = UlpError(exact[i], y[i]);
        if (error > worst) worst = error, at = x[i];
      }
      std::printf("%-10s %-9s max %.3f ULP at %a\n", std::string(abi::ExprOpName(op)).c_str(),
                  eval.name, worst, static_cast<double>(at));
      EXPECT_LT(worst, 2.0) << abi::ExprOpName(op) << " " << eval.name << " at " << at;
    }
  }
}

TEST(VectorMath, PowWithinTwoUlp) {
  const std::vector<float>& x = Inputs();
  std::vector<float> base(x), exponent(x), y(x.size());
  std::mt19937 random(2);
  std::uniform_real_distribution<float> moderate(-12, 12);
  for (size_t i = 0; i < x.size(); ++i) {
    exponent[i] = x[random() % x.size()];
    if (i % 2 == 0) exponent[i] = moderate(random);
    if (i % 8 == 0) exponent[i] = std::floor(exponent[i]);
    if (i % 4 == 0) base[i] = moderate(random);
    if (i % 16 == 1) base[i] = x[x.size() - 1 - random() % 150];
    if (i % 32 == 1) exponent[i] = x[x.size() - 1 - random() % 150];
  }
  abi::ExprBuilder b;
  const abi::Expr expr =
      b.Finish({b.Binary(ExprOp::kPow, b.Input(0, DType::kF32), b.Input(1, DType::kF32))});
  for (const NamedEval& eval : RunnableEvals()) {
    Evaluate(eval.fn, expr, {base.data(), exponent.data()}, y.data(), y.size());
    double worst = 0;
    for (size_t i = 0; i < y.size(); ++i) {
      const double exact = std::pow(static_cast<double>(base[i]), static_cast<double>(exponent[i]));
      const double error = UlpError(exact, y[i]);
      EXPECT_LT(error, 2.0) << eval.name << ": " << base[i] << " ^ " << exponent[i];
      worst = std::max(worst, error);
    }
    std::printf("pow        %-9s max %.3f ULP\n", eval.name, worst);
  }
}

// The measure itself: a result one or two units off is seen, and so is a wrong class.
TEST(VectorMath, UlpErrorSeesErrors) {
  EXPECT_EQ(UlpError(1.0, 1.0f), 0);
  EXPECT_NEAR(UlpError(1.0, std::nextafter(1.0f, 2.0f)), 1, 1e-9);
  EXPECT_NEAR(UlpError(0x1p-149, 0x1p-148f), 1, 1e-9);
  EXPECT_GT(UlpError(NAN, 1.0f), 1e9);
  EXPECT_GT(UlpError(INFINITY, 1.0f), 1e9);
}

}  // namespace
}  // namespace aicf::cpu
