#include "kernels/cpu/gemm/chain_plan.h"

#include <gtest/gtest.h>

#include <limits>

namespace aicf::cpu {
namespace {

using abi::ExprBuilder;
using abi::ExprOp;

constexpr int kBias = 0, kResidual = 1, kRowVector = 2;

// Operands of a convolution: a bias per column, a residual, and one value per row.
TileEpilogue Operands() {
  TileEpilogue e;
  e.input_count = 3;
  e.inputs[kBias].col_stride = 1;
  e.inputs[kResidual].outer_strides[0] = 640;
  e.inputs[kResidual].row_stride = 64;
  e.inputs[kResidual].col_stride = 1;
  e.inputs[kRowVector].row_stride = 1;
  e.output_count = 1;
  e.outputs[0] = e.inputs[kResidual];
  return e;
}

struct Built {
  ExprBuilder b;
  uint16_t c(double value) { return b.Const(value, DType::kF32); }
  uint16_t in(int k) { return b.Input(k, DType::kF32); }
  uint16_t biased() { return b.Binary(ExprOp::kAdd, in(0), in(kBias + 1)); }
  TileEpilogue Plan(uint16_t result, bool tensors_allowed = true) {
    TileEpilogue e = Operands();
    PlanChain(b.Finish({result}), tensors_allowed, &e);
    return e;
  }
};

TEST(ChainPlan, NothingIsDirect) {
  TileEpilogue e = Operands();
  PlanChain({}, true, &e);
  EXPECT_TRUE(e.is_chain);
  EXPECT_TRUE(e.is_direct);
  EXPECT_EQ(e.step_count, 0);
  e.outputs[0].dtype = DType::kF16;
  PlanChain({}, true, &e);
  EXPECT_TRUE(e.is_chain);
  EXPECT_FALSE(e.is_direct);
}

TEST(ChainPlan, BiasStartsTheSumAndReluIsDirect) {
  Built t;
  const TileEpilogue e = t.Plan(t.b.Binary(ExprOp::kMax, t.biased(), t.c(0)));
  EXPECT_TRUE(e.is_direct);
  EXPECT_EQ(e.bias_input, kBias);
  ASSERT_EQ(e.step_count, 1);
  EXPECT_EQ(e.steps[0].op, ChainOp::kClamp);
  EXPECT_EQ(e.steps[0].lo, 0);
  EXPECT_EQ(e.steps[0].hi, std::numeric_limits<float>::infinity());
}

TEST(ChainPlan, HardSwishIsOneStepAndItsScaleIsFolded) {
  Built t;
  const uint16_t x = t.biased();
  const uint16_t u = t.b.Binary(ExprOp::kAdd, x, t.c(3));
  const uint16_t gate = t.b.Binary(ExprOp::kMin, t.b.Binary(ExprOp::kMax, u, t.c(0)), t.c(6));
  const uint16_t y = t.b.Binary(ExprOp::kDiv, t.b.Binary(ExprOp::kMul, x, gate), t.c(6));
  const TileEpilogue e = t.Plan(t.b.Fma(y, t.c(2), t.c(0.5)));
  ASSERT_TRUE(e.is_chain);
  ASSERT_EQ(e.step_count, 2);
  EXPECT_EQ(e.steps[0].op, ChainOp::kGate);
  EXPECT_FLOAT_EQ(e.steps[0].a, 2.0f / 6);
  EXPECT_FLOAT_EQ(e.steps[0].b, 1.0f);
  EXPECT_FLOAT_EQ(e.steps[0].hi, 2.0f);
  EXPECT_EQ(e.steps[1].op, ChainOp::kLinear);
  EXPECT_FLOAT_EQ(e.steps[1].a, 1.0f);
  EXPECT_FLOAT_EQ(e.steps[1].b, 0.5f);
}

TEST(ChainPlan, SiluPlusResidualAsFma) {
  Built t;
  const uint16_t x = t.biased();
  const uint16_t y = t.b.Fma(x, t.b.Unary(ExprOp::kSigmoid, x), t.in(kResidual + 1));
  const TileEpilogue e = t.Plan(y);
  ASSERT_TRUE(e.is_chain);
  ASSERT_EQ(e.step_count, 2);
  EXPECT_EQ(e.steps[0].op, ChainOp::kSilu);
  EXPECT_EQ(e.steps[1].op, ChainOp::kAddTensor);
  EXPECT_EQ(e.steps[1].operand, kResidual);
  EXPECT_FALSE(t.Plan(y, /*tensors_allowed=*/false).is_chain);
}

TEST(ChainPlan, GeluByTanhIsOneStep) {
  Built t;
  const uint16_t x = t.biased();
  const uint16_t cube = t.b.Binary(ExprOp::kMul, x, t.b.Binary(ExprOp::kMul, x, t.c(0.045)));
  const uint16_t u = t.b.Binary(ExprOp::kMul, t.b.Fma(x, cube, x), t.c(0.8));
  const uint16_t gate = t.b.Binary(ExprOp::kAdd, t.b.Unary(ExprOp::kTanh, u), t.c(1));
  // Its half on the value, on the gate and on the product.
  const uint16_t spellings[] = {
      t.b.Binary(ExprOp::kMul, t.b.Binary(ExprOp::kMul, x, t.c(0.5)), gate),
      t.b.Binary(ExprOp::kMul, x, t.b.Binary(ExprOp::kMul, gate, t.c(0.5))),
      t.b.Binary(ExprOp::kMul, t.b.Binary(ExprOp::kMul, gate, x), t.c(0.5))};
  for (const uint16_t y : spellings) {
    const TileEpilogue e = t.Plan(y);
    ASSERT_TRUE(e.is_chain);
    EXPECT_EQ(e.bias_input, kBias);
    ASSERT_EQ(e.step_count, 1);
    EXPECT_EQ(e.steps[0].op, ChainOp::kGateSigmoid);
    EXPECT_FLOAT_EQ(e.steps[0].a, 1.6f);
    EXPECT_FLOAT_EQ(e.steps[0].b, 0.072f);
    EXPECT_FLOAT_EQ(e.steps[0].lo, 1.0f);
  }
}

TEST(ChainPlan, GeluByErfIsOneStep) {
  Built t;
  const uint16_t x = t.biased();
  const uint16_t erf = t.b.Unary(ExprOp::kErf, t.b.Binary(ExprOp::kDiv, x, t.c(1.5)));
  const uint16_t gate = t.b.Binary(ExprOp::kAdd, erf, t.c(1));
  const TileEpilogue e =
      t.Plan(t.b.Binary(ExprOp::kMul, t.b.Binary(ExprOp::kMul, x, gate), t.c(0.5)));
  ASSERT_TRUE(e.is_chain);
  ASSERT_EQ(e.step_count, 1);
  EXPECT_EQ(e.steps[0].op, ChainOp::kGateErf);
  EXPECT_FLOAT_EQ(e.steps[0].a, 1 / 1.5f);
  EXPECT_FLOAT_EQ(e.steps[0].lo, 0.5f);
  EXPECT_FLOAT_EQ(e.steps[0].hi, 0.5f);
}

TEST(ChainPlan, SwishOfAMultipleIsOneStep) {
  Built t;
  const uint16_t x = t.biased();
  const uint16_t u = t.b.Unary(ExprOp::kSigmoid, t.b.Binary(ExprOp::kMul, x, t.c(1.702)));
  const TileEpilogue e = t.Plan(t.b.Binary(ExprOp::kMul, u, x));
  ASSERT_TRUE(e.is_chain);
  ASSERT_EQ(e.step_count, 1);
  EXPECT_EQ(e.steps[0].op, ChainOp::kGateSigmoid);
  EXPECT_FLOAT_EQ(e.steps[0].a, 1.702f);
  EXPECT_EQ(e.steps[0].b, 0);
}

TEST(ChainPlan, GatesOfAnotherFormAreLeft) {
  Built t;
  const uint16_t x = t.biased();
  const auto gated = [&](uint16_t gate) {
    return t.Plan(t.b.Binary(ExprOp::kMul, x, gate)).is_chain;
  };
  const uint16_t tanh = t.b.Unary(ExprOp::kTanh, x);
  EXPECT_FALSE(gated(tanh));
  EXPECT_FALSE(gated(t.b.Binary(ExprOp::kAdd, tanh, t.c(2))));
  EXPECT_FALSE(gated(t.b.Unary(ExprOp::kSigmoid, t.b.Binary(ExprOp::kAdd, x, t.c(1)))));
  // A square is no odd function, and a fourth power is more than a cubic.
  const uint16_t square = t.b.Binary(ExprOp::kMul, x, x);
  EXPECT_FALSE(t.Plan(t.b.Fma(x, x, x)).is_chain);
  EXPECT_FALSE(t.Plan(t.b.Binary(ExprOp::kMul, square, square)).is_chain);
}

TEST(ChainPlan, CubesAndFunctionsAreSteps) {
  Built t;
  const uint16_t x = t.in(0);
  const uint16_t cube = t.b.Binary(ExprOp::kMul, x, t.b.Binary(ExprOp::kMul, x, x));
  const TileEpilogue e = t.Plan(
      t.b.Unary(ExprOp::kErf, t.b.Unary(ExprOp::kTanh, t.b.Binary(ExprOp::kMul, cube, t.c(3)))));
  ASSERT_TRUE(e.is_chain);
  ASSERT_EQ(e.step_count, 3);
  EXPECT_EQ(e.steps[0].op, ChainOp::kCubic);
  EXPECT_EQ(e.steps[0].a, 0);
  EXPECT_EQ(e.steps[0].b, 3);
  EXPECT_EQ(e.steps[1].op, ChainOp::kTanh);
  EXPECT_EQ(e.steps[2].op, ChainOp::kErf);
}

TEST(ChainPlan, CrossedBoundsStayTwoSteps) {
  Built t;
  // min(max(x, 2), 1) is 1; max(min(x, 1), 2) is 2: one interval could not say which.
  const uint16_t low = t.b.Binary(ExprOp::kMax, t.in(0), t.c(2));
  const TileEpilogue e = t.Plan(t.b.Binary(ExprOp::kMin, low, t.c(1)));
  ASSERT_TRUE(e.is_chain);
  ASSERT_EQ(e.step_count, 2);
  EXPECT_FALSE(e.is_direct);
}

TEST(ChainPlan, LeavesTheRestToTheEvaluator) {
  Built t;
  EXPECT_FALSE(t.Plan(t.b.Unary(ExprOp::kSin, t.biased())).is_chain);
  EXPECT_FALSE(t.Plan(t.b.Binary(ExprOp::kMul, t.in(0), t.in(kRowVector + 1))).is_chain);
  EXPECT_FALSE(t.Plan(t.b.Binary(ExprOp::kMul, t.in(0), t.in(0))).is_chain);
  EXPECT_FALSE(t.Plan(t.c(4)).is_chain);
  EXPECT_FALSE(t.Plan(t.b.Binary(ExprOp::kSub, t.in(0), t.in(kBias + 1))).is_chain);
}

TEST(ChainPlan, ManyProductsOfOneValueEndQuickly) {
  Built t;
  uint16_t y = t.in(0);
  for (int i = 0; i < 40; ++i) y = t.b.Binary(ExprOp::kMul, y, t.b.Unary(ExprOp::kNeg, y));
  EXPECT_FALSE(t.Plan(y).is_chain);
}

}  // namespace
}  // namespace aicf::cpu
