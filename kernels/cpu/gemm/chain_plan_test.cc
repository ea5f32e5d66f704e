#include "kernels/cpu/gemm/chain_plan.h"
#include "kernels/cpu/gemm/chain_table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <string_view>

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

std::string Ops(const TileEpilogue& e) {
  constexpr std::string_view kNames[] = {
      "save", "swap", "linear",    "fma",     "divide",   "clamp",  "sigmoid",
      "tanh", "erf",  "roundf16",  "round",   "quantize", "narrow", "table",
      "add",  "mul",  "fma value", "fma sum", "gate",     "silu",   "mul swapped"};
  if (!e.is_chain) return "no chain";
  std::string out;
  for (int i = 0; i < e.step_count; ++i) {
    out += StrCat(i == 0 ? "" : ", ", kNames[static_cast<int>(e.steps[i].op)]);
  }
  return out;
}

TEST(ChainPlan, HardSwishIsOneGateAndNothingIsFoldedIntoIt) {
  Built t;
  const uint16_t x = t.biased();
  const uint16_t u = t.b.Binary(ExprOp::kAdd, x, t.c(3));
  const uint16_t gate = t.b.Binary(ExprOp::kMin, t.b.Binary(ExprOp::kMax, u, t.c(0)), t.c(6));
  const uint16_t y = t.b.Binary(ExprOp::kDiv, t.b.Binary(ExprOp::kMul, x, gate), t.c(6));
  const TileEpilogue e = t.Plan(t.b.Fma(y, t.c(2), t.c(0.5)));
  ASSERT_EQ(Ops(e), "gate, divide, fma");
  EXPECT_EQ(e.steps[0].a, 1);
  EXPECT_EQ(e.steps[0].b, 3);
  EXPECT_EQ(e.steps[0].lo, 0);
  EXPECT_EQ(e.steps[0].hi, 6);
  EXPECT_EQ(e.steps[1].a, 6);
  EXPECT_EQ(e.steps[2].a, 2);
  EXPECT_EQ(e.steps[2].b, 0.5f);
}

// Two products are two roundings, a quotient is one; a power of two rounds nothing.
TEST(ChainPlan, ScalesStayAsTheyAreWritten) {
  Built t;
  const uint16_t product = t.b.Binary(ExprOp::kMul, t.in(0), t.c(3));
  EXPECT_EQ(Ops(t.Plan(t.b.Binary(ExprOp::kMul, product, t.c(5)))), "linear, linear");
  EXPECT_EQ(Ops(t.Plan(t.b.Binary(ExprOp::kAdd, product, t.c(5)))), "linear, linear");
  EXPECT_EQ(Ops(t.Plan(t.b.Binary(ExprOp::kDiv, t.in(0), t.c(3)))), "divide");
  const TileEpilogue quarter = t.Plan(t.b.Binary(ExprOp::kDiv, t.in(0), t.c(-4)));
  EXPECT_EQ(Ops(quarter), "linear");
  EXPECT_EQ(quarter.steps[0].a, -0.25f);
  EXPECT_TRUE(std::signbit(quarter.steps[0].b));  // adding +0 would change -0
  // The reciprocals of these are no f32 numbers.
  EXPECT_EQ(Ops(t.Plan(t.b.Binary(ExprOp::kDiv, t.in(0), t.c(0x1p-149)))), "divide");
  EXPECT_EQ(Ops(t.Plan(t.b.Binary(ExprOp::kDiv, t.in(0), t.c(0)))), "divide");
}

TEST(ChainPlan, SiluPlusResidualAsFma) {
  Built t;
  const uint16_t x = t.biased();
  const uint16_t y = t.b.Fma(x, t.b.Unary(ExprOp::kSigmoid, x), t.in(kResidual + 1));
  const TileEpilogue e = t.Plan(y);
  ASSERT_EQ(Ops(e), "save, sigmoid, fma value");
  EXPECT_EQ(e.steps[2].x.source, ChainSource::kSaved);
  EXPECT_EQ(e.steps[2].y.source, ChainSource::kTensor);
  EXPECT_EQ(e.steps[2].y.index, kResidual);
  EXPECT_FALSE(t.Plan(y, /*tensors_allowed=*/false).is_chain);
  const uint16_t sum = t.b.Binary(ExprOp::kMul, x, t.b.Unary(ExprOp::kSigmoid, x));
  EXPECT_EQ(Ops(t.Plan(t.b.Binary(ExprOp::kAdd, sum, t.in(kResidual + 1)))), "silu, add");
}

TEST(ChainPlan, GeluByTanhInItsSpellings) {
  Built t;
  const uint16_t x = t.biased();
  const uint16_t cube = t.b.Binary(ExprOp::kMul, x, t.b.Binary(ExprOp::kMul, x, t.c(0.045)));
  const uint16_t u = t.b.Binary(ExprOp::kMul, t.b.Fma(x, cube, x), t.c(0.8));
  const uint16_t gate = t.b.Binary(ExprOp::kAdd, t.b.Unary(ExprOp::kTanh, u), t.c(1));
  const std::string inner = "save, linear, mul, fma value, tanh";
  // Its half on the value, on the gate and on the product.
  const uint16_t on_value = t.b.Binary(ExprOp::kMul, t.b.Binary(ExprOp::kMul, x, t.c(0.5)), gate);
  EXPECT_EQ(Ops(t.Plan(on_value)), inner + ", mul swapped");
  const uint16_t on_gate = t.b.Binary(ExprOp::kMul, x, t.b.Binary(ExprOp::kMul, gate, t.c(0.5)));
  EXPECT_EQ(Ops(t.Plan(on_gate)), inner + ", linear, mul");
  const uint16_t after = t.b.Binary(ExprOp::kMul, t.b.Binary(ExprOp::kMul, gate, x), t.c(0.5));
  EXPECT_EQ(Ops(t.Plan(after)), inner + ", mul, linear");
}

TEST(ChainPlan, GeluByErf) {
  Built t;
  const uint16_t x = t.biased();
  const uint16_t erf = t.b.Unary(ExprOp::kErf, t.b.Binary(ExprOp::kDiv, x, t.c(1.5)));
  const uint16_t gate = t.b.Binary(ExprOp::kAdd, erf, t.c(1));
  const TileEpilogue e =
      t.Plan(t.b.Binary(ExprOp::kMul, t.b.Binary(ExprOp::kMul, x, gate), t.c(0.5)));
  EXPECT_EQ(Ops(e), "save, divide, erf, mul, linear");
  EXPECT_EQ(e.bias_input, kBias);
}

TEST(ChainPlan, GatesOfAnyForm) {
  Built t;
  const uint16_t x = t.biased();
  const auto gated = [&](uint16_t gate) { return Ops(t.Plan(t.b.Binary(ExprOp::kMul, x, gate))); };
  EXPECT_EQ(gated(t.b.Unary(ExprOp::kTanh, x)), "save, tanh, mul");
  EXPECT_EQ(gated(t.b.Unary(ExprOp::kSigmoid, t.b.Binary(ExprOp::kAdd, x, t.c(1)))),
            "save, sigmoid, mul");
  // The saved value is used again after what would be a gate by itself.
  EXPECT_EQ(gated(t.b.Binary(ExprOp::kMul, x, t.b.Unary(ExprOp::kSigmoid, x))),
            "save, sigmoid, mul, mul");
}

TEST(ChainPlan, PowersAreProductsOfTheSavedValue) {
  Built t;
  const uint16_t x = t.in(0);
  const uint16_t square = t.b.Binary(ExprOp::kMul, x, x);
  EXPECT_EQ(Ops(t.Plan(square)), "save, mul");
  EXPECT_EQ(Ops(t.Plan(t.b.Binary(ExprOp::kMul, square, square))), "save, mul, save, mul");
  EXPECT_EQ(Ops(t.Plan(t.b.Binary(ExprOp::kMul, square, x))), "save, mul, mul");
  EXPECT_EQ(Ops(t.Plan(t.b.Fma(x, x, x))), "save, fma value");
}

TEST(ChainPlan, FmaOfOperands) {
  Built t;
  const TileEpilogue value = t.Plan(t.b.Fma(t.in(kBias + 1), t.in(0), t.in(kResidual + 1)));
  ASSERT_EQ(Ops(value), "fma value");
  EXPECT_EQ(value.steps[0].x.source, ChainSource::kColumns);
  EXPECT_EQ(value.column_inputs[value.steps[0].x.index], kBias);
  EXPECT_EQ(value.steps[0].y.source, ChainSource::kTensor);
  EXPECT_EQ(value.bias_input, -1);
  const TileEpilogue sum = t.Plan(t.b.Fma(t.in(kResidual + 1), t.c(0.5), t.in(0)));
  ASSERT_EQ(Ops(sum), "fma sum");
  EXPECT_EQ(sum.steps[0].x.source, ChainSource::kTensor);
  EXPECT_EQ(sum.steps[0].y.number, 0.5f);
}

// round, a zero point, a clamp and a cast.
uint16_t Quantize(Built& t, uint16_t v, double zero, DType to) {
  const bool is_signed = to == DType::kI8;
  v = t.b.Binary(ExprOp::kAdd, t.b.Unary(ExprOp::kRound, v), t.c(zero));
  v = t.b.Binary(ExprOp::kMax, v, t.c(is_signed ? -128 : 0));
  return t.b.Cast(t.b.Binary(ExprOp::kMin, v, t.c(is_signed ? 127 : 255)), to);
}

TEST(ChainPlan, QuantisingIsOneStep) {
  Built t;
  const uint16_t codes = Quantize(t, t.b.Binary(ExprOp::kDiv, t.biased(), t.c(0.3)), 7, DType::kI8);
  const uint16_t back = t.b.Binary(ExprOp::kSub, t.b.Cast(codes, DType::kF32), t.c(7));
  const TileEpilogue e = t.Plan(t.b.Binary(ExprOp::kMul, back, t.c(0.3)));
  EXPECT_EQ(Ops(e), "divide, quantize, linear, linear");
  EXPECT_EQ(e.steps[1].b, 7);
  EXPECT_EQ(e.steps[1].lo, -128);
  EXPECT_EQ(e.steps[1].hi, 127);
}

// Stands for the function of an instruction set.
void AddOne(const TileEpilogue& e, float* values) {
  for (int i = 0; i < kChainTableEntries; ++i) values[i] += static_cast<float>(e.step_count);
}

TEST(ChainPlan, WhatFollowsAQuantisationIsATable) {
  Built t;
  uint16_t v = t.in(0);
  for (int i = 0; i < 3; ++i) {
    v = t.b.Binary(ExprOp::kDiv, v, t.c(0.3));
    v = t.b.Cast(Quantize(t, v, 7, DType::kI8), DType::kF32);
  }
  TileEpilogue few = t.Plan(v), many = few;
  EXPECT_EQ(Ops(few), "divide, quantize, divide, quantize, divide, quantize");
  TabulateChain(4095, &AddOne, &few);
  EXPECT_EQ(few.step_count, 6);
  TabulateChain(4096, &AddOne, &many);
  EXPECT_EQ(Ops(many), "divide, quantize, table");
  EXPECT_EQ(many.table[1], 1 + 4);
  EXPECT_EQ(many.table[255], -1 + 4);

  // A residual is another value: there is nothing to find beforehand.
  TileEpilogue residual = t.Plan(t.b.Binary(ExprOp::kAdd, v, t.in(kResidual + 1)));
  TabulateChain(4096, &AddOne, &residual);
  EXPECT_EQ(residual.step_count, 7);
}

TEST(ChainPlan, SumsOfIntegersTakeTermsBeforeTheyAreFloats) {
  Built t;
  TileEpilogue e = Operands();
  e.inputs[kBias].dtype = DType::kI32;
  e.inputs[kRowVector] = {};
  e.inputs[kRowVector].dtype = DType::kU8;  // one number
  const auto ints = [&](int k) { return t.b.Input(k, DType::kI32); };
  const uint16_t zero = t.b.Cast(t.b.Input(kRowVector + 1, DType::kU8), DType::kI32);
  const uint16_t by = t.b.Binary(ExprOp::kMul, zero, ints(kBias + 1));
  const uint16_t sums =
      t.b.Binary(ExprOp::kAdd, t.b.Binary(ExprOp::kSub, ints(0), by), t.b.Const(5, DType::kI32));
  const uint16_t scaled = t.b.Binary(ExprOp::kMul, t.b.Cast(sums, DType::kF32), t.c(0.3));
  const abi::Expr expr = t.b.Finish({Quantize(t, scaled, 9, DType::kU8)});
  e.outputs[0].dtype = DType::kU8;
  PlanIntegerChain(expr, true, &e);
  EXPECT_EQ(Ops(e), "linear, quantize");
  EXPECT_TRUE(e.from_integers);
  ASSERT_EQ(e.term_count, 2);
  EXPECT_EQ(e.terms[0].number, 5);
  EXPECT_EQ(e.terms[0].a, -1);
  EXPECT_EQ(e.terms[1].number, -1);
  EXPECT_EQ(e.terms[1].a, kRowVector);
  EXPECT_EQ(e.terms[1].b, kBias);
  e.outputs[0].dtype = DType::kI8;  // what the expression gives is another type
  PlanIntegerChain(expr, true, &e);
  EXPECT_FALSE(e.is_chain);
}

TEST(ChainPlan, SumsOfIntegersAsTheyAre) {
  TileEpilogue e = Operands();
  e.outputs[0].dtype = DType::kI32;
  PlanIntegerChain({}, true, &e);
  EXPECT_TRUE(e.is_chain);
  EXPECT_FALSE(e.from_integers);
  EXPECT_EQ(e.step_count, 0);
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
  // Min and max of a NaN are NaN, which no clamp gives.
  EXPECT_FALSE(t.Plan(t.b.Binary(ExprOp::kMax, t.in(0), t.c(NAN))).is_chain);
  // Both values are needed at once, and neither comes from the other alone.
  const uint16_t sum = t.b.Binary(ExprOp::kAdd, t.b.Unary(ExprOp::kSin, t.in(0)), t.in(0));
  EXPECT_FALSE(t.Plan(sum).is_chain);
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
