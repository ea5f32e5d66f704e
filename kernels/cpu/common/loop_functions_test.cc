// Every f32 operator of EvalBlock against libm in double, in units in the last place, on a grid
// over all bit patterns, random patterns, and values around the places where the formulas change.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <random>

#include "kernels/cpu/common/test_ulp.h"
#include "kernels/cpu/expr/block_test_util.h"
#include "kernels/cpu/expr/scalar_ops.h"
#include "kernels/cpu/normalize/loops.h"

namespace aicf::cpu {
namespace {

using abi::ExprOp;

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

// Every unary row of the table, and every function that is in vectors has a row.
TEST(VectorMath, UnaryFunctionsKeepTheTablesBounds) {
  const std::vector<float>& x = UlpSamples();
  std::vector<float> y(x.size());
  for (const VectorFunction& row : kVectorFunctions) {
    if (row.home != VectorHome::kBlock || abi::ExprOpArity(row.op) != 1) continue;
    for (const NamedEval& eval : RunnableEvals()) {
      Evaluate(eval.fn, UnaryExpr(row.op), {x.data()}, y.data(), x.size());
      double worst = 0;
      const auto beyond = BeyondBound(
          row, x, y, [&](double v) { return FloatUnary(row.op, v, true); }, &worst);
      std::printf("%-10s %-9s max %.3f ULP\n", std::string(abi::ExprOpName(row.op)).c_str(),
                  eval.name, worst);
      EXPECT_TRUE(beyond.empty()) << abi::ExprOpName(row.op) << " " << eval.name << ": " << worst
                                  << " ULP, " << beyond.size() << " samples beyond " << row.ulp
                                  << ", the first " << (beyond.empty() ? 0.0f : beyond.front());
    }
  }
}

const VectorFunction& RowOf(ExprOp op) {
  for (const VectorFunction& row : kVectorFunctions) {
    if (row.home == VectorHome::kBlock && row.op == op) return row;
  }
  ADD_FAILURE() << abi::ExprOpName(op) << " has no row";
  return kVectorFunctions[0];
}

TEST(VectorMath, PowKeepsTheTablesBound) {
  const std::vector<float>& x = UlpSamples();
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
      EXPECT_LE(error, RowOf(ExprOp::kPow).ulp)
          << eval.name << ": " << base[i] << " ^ " << exponent[i];
      worst = std::max(worst, error);
    }
    std::printf("pow        %-9s max %.3f ULP\n", eval.name, worst);
  }
}

// Softmax and attention take the exponential of differences from a maximum, which are not positive.
TEST(VectorMath, TheExponentialOfSoftmaxKeepsItsBound) {
  std::vector<float> x;
  for (float v : UlpSamples()) {
    if (v <= 0 || std::isnan(v)) x.push_back(v);
  }
  ASSERT_GT(x.size(), 1000000u);
  std::vector<float> y(x.size());
  const abi::CpuIsa best = abi::FindDevice("cpu")->isa;
  const std::pair<abi::CpuIsa, const NormalizeLoops*> all[] = {
      {abi::CpuIsa::kBaseline, &baseline::kNormalizeLoops},
      {abi::CpuIsa::kAvx2, &avx2::kNormalizeLoops},
      {abi::CpuIsa::kAvx512, &avx512::kNormalizeLoops}};
  int rows = 0;
  for (const VectorFunction& row : kVectorFunctions) {
    if (row.home != VectorHome::kSoftmax) continue;
    ++rows;
    for (const auto& [isa, loops] : all) {
      if (isa > best) continue;
      loops->exponentials(x.data(), y.data(), static_cast<int64_t>(x.size()), 0);
      double worst = 0;
      const auto beyond = BeyondBound(
          row, x, y, [&](double v) { return FloatUnary(row.op, v, true); }, &worst);
      std::printf("exp of softmax max %.3f ULP\n", worst);
      EXPECT_TRUE(beyond.empty()) << worst << " ULP, " << beyond.size() << " samples beyond "
                                  << row.ulp << ", the first "
                                  << (beyond.empty() ? 0.0f : beyond.front());
    }
  }
  EXPECT_EQ(rows, 1);
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
