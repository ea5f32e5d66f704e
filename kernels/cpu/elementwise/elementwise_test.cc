#include <gtest/gtest.h>

#include "kernels/cpu/common/test_expr.h"

namespace aicf::cpu {
namespace {

using abi::ExprOp;

DType AnyDType(Random& random) { return static_cast<DType>(Pick(random, 0, kDTypeCount - 1)); }

TestStep RandomElementwiseStep(Random& random) {
  TestStep step;
  abi::Problem& p = step.problem;
  p.family = abi::Family::kElementwise;
  p.attrs = abi::ElementwiseAttrs{};
  const int rank = static_cast<int>(Pick(random, 0, 5));
  const Dims shape = RandomShape(random, rank, rank <= 2 ? 1500 / (rank * rank + 1) : 9);
  std::vector<DType> dtypes;
  for (int64_t k = Pick(random, 0, 4); k > 0; --k) {
    dtypes.push_back(Chance(random, 50) ? DType::kF32 : AnyDType(random));
    p.inputs.push_back(RandomView(random, dtypes.back(), shape, true));
  }
  p.core_inputs = static_cast<int>(p.inputs.size());
  RandomExpr expr(random, dtypes);
  if (Chance(random, 30)) expr.UseIndex(rank);
  const int operators = static_cast<int>(Pick(random, 1, Chance(random, 10) ? 30 : 8));
  const DType first = AnyDType(random);
  p.outputs.push_back(RandomView(random, first, shape, false));
  if (Chance(random, 25)) {
    const DType second = AnyDType(random);
    p.outputs.push_back(RandomView(random, second, shape, false));
    p.epilogue = expr.MakeTwo(operators, abi::ComputeDType(first), abi::ComputeDType(second));
  } else {
    p.epilogue = expr.Make(operators, abi::ComputeDType(first));
  }
  return step;
}

TEST(Elementwise, VariantsGiveTheReferencesBits) {
  Random random(1);
  int ran = 0;
  for (int i = 0; i < 900 && !HasFailure(); ++i) {
    TestStep step = RandomElementwiseStep(random);
    step.Prepare(random);
    if (HasFatalFailure()) return;
    ran += CompareVariants(step, 0, 0);
  }
  EXPECT_GE(ran, 900);
}

// sin(a * x + b) with every layout, against the formula in double.
TEST(Elementwise, SineMatchesTheFormula) {
  Random random(2);
  for (int i = 0; i < 150 && !HasFailure(); ++i) {
    TestStep step;
    abi::Problem& p = step.problem;
    p.attrs = abi::ElementwiseAttrs{};
    const int rank = static_cast<int>(Pick(random, 1, 4));
    const Dims shape = RandomShape(random, rank, rank == 1 ? 5000 : 40 / rank);
    for (int k = 0; k < 3; ++k) p.inputs.push_back(RandomView(random, DType::kF32, shape, true));
    p.outputs.push_back(RandomView(random, DType::kF32, shape, false));
    p.core_inputs = 3;
    abi::ExprBuilder b;
    const uint16_t x = b.Input(0, DType::kF32), a = b.Input(1, DType::kF32);
    const uint16_t c = b.Input(2, DType::kF32);
    p.epilogue =
        b.Finish({b.Unary(ExprOp::kSin, b.Binary(ExprOp::kAdd, b.Binary(ExprOp::kMul, a, x), c))});
    step.Prepare(random);
    if (HasFatalFailure()) return;
    for (const abi::KernelInfo& info : CpuVariants(p.family)) {
      if (!info.supports(p, HostDevice()).empty()) continue;
      const std::vector<TestBuffer> out = RunVariant(info, step);
      ForEachIndex(shape, [&](const int64_t* at) {
        const double argument = step.input(1).At(at) * step.input(0).At(at) + step.input(2).At(at);
        ASSERT_NEAR(out[0].At(at), std::sin(argument), 0x1p-23) << info.key;
      });
    }
  }
}

TEST(Elementwise, InPlaceIsTheSameAsApart) {
  Random random(3);
  int checked = 0;
  for (int i = 0; i < 600 && !HasFailure(); ++i) {
    TestStep step = RandomElementwiseStep(random);
    if (step.problem.inputs.empty()) continue;
    // Give one input the output's view.
    const abi::View& out = step.problem.outputs[0];
    if (DTypeBytes(step.problem.inputs[0].dtype) != DTypeBytes(out.dtype)) continue;
    const DType dtype = step.problem.inputs[0].dtype;
    step.problem.inputs[0] = out;
    step.problem.inputs[0].dtype = dtype;
    step.Prepare(random);
    if (HasFatalFailure()) return;
    for (const abi::KernelInfo& info : CpuVariants(step.problem.family)) {
      if (!info.supports(step.problem, HostDevice()).empty()) continue;
      ASSERT_TRUE(info.in_place(step.problem, 0));
      EXPECT_TRUE(SameInPlace(info, step, 0)) << abi::ToString(step.problem);
      ++checked;
    }
  }
  EXPECT_GE(checked, 100);
}

// Chains of quantisations of one value of 8 bits: found in tables after some blocks, next to values
// that are not.
TEST(Elementwise, FunctionsOfBytes) {
  Random random(5);
  for (DType from : {DType::kU8, DType::kI8, DType::kF32}) {
    for (DType to : {DType::kU8, DType::kI8, DType::kF32, DType::kI32, DType::kBool}) {
      TestStep step;
      abi::Problem& p = step.problem;
      p.attrs = abi::ElementwiseAttrs{};
      p.inputs = {abi::DenseView(from, {7, 1500}), abi::DenseView(DType::kF32, {7, 1500})};
      p.outputs = {abi::DenseView(to, {7, 1500}), abi::DenseView(DType::kF32, {7, 1500})};
      p.core_inputs = 2;
      abi::ExprBuilder b;
      uint16_t v = b.Cast(b.Input(0, from), DType::kF32);
      const auto c = [&](double x) { return b.Const(x, DType::kF32); };
      for (int i = 1; i < 4; ++i) {
        v = b.Unary(ExprOp::kRound, b.Binary(ExprOp::kDiv, v, c(0.7 * i)));
        v = b.Binary(ExprOp::kMax, b.Binary(ExprOp::kAdd, v, c(i)), c(-90));
        v = b.Cast(b.Cast(b.Binary(ExprOp::kMin, v, c(99)), DType::kI8), DType::kF32);
        v = b.Binary(ExprOp::kMul, v, b.Binary(ExprOp::kAdd, b.Unary(ExprOp::kAbs, v), c(0.5)));
      }
      const uint16_t sum = b.Binary(ExprOp::kAdd, v, b.Input(1, DType::kF32));
      const uint16_t stored =
          to == DType::kBool ? b.Binary(ExprOp::kLt, v, c(3)) : b.Cast(v, abi::ComputeDType(to));
      p.epilogue = b.Finish({stored, sum});
      step.Prepare(random);
      if (HasFatalFailure()) return;
      EXPECT_GE(CompareVariants(step, 0, 0), 1);
    }
  }
}

// The input is itself a result: it must be read before the first output, which overwrites it.
TEST(Elementwise, InPlaceWithTheInputAsAnotherResult) {
  Random random(4);
  TestStep step;
  abi::Problem& p = step.problem;
  p.attrs = abi::ElementwiseAttrs{};
  p.inputs = {abi::DenseView(DType::kF32, {3000})};
  p.outputs = {p.inputs[0], p.inputs[0]};
  p.core_inputs = 1;
  abi::ExprBuilder b;
  const uint16_t x = b.Input(0, DType::kF32);
  p.epilogue = b.Finish({b.Unary(ExprOp::kNeg, x), x});
  step.Prepare(random);
  for (const abi::KernelInfo& info : CpuVariants(p.family)) {
    if (!info.supports(p, HostDevice()).empty()) continue;
    EXPECT_TRUE(SameInPlace(info, step, 0));
  }
}

TEST(Elementwise, InPlaceNeedsTheSameView) {
  abi::Problem p;
  p.inputs = {abi::DenseView(DType::kF32, {4, 5}), abi::DenseView(DType::kF32, {4, 5}),
              abi::DenseView(DType::kF16, {4, 5})};
  p.inputs[1].strides = {0, 1};
  p.outputs = {abi::DenseView(DType::kF32, {4, 5})};
  p.core_inputs = 3;
  for (const abi::KernelInfo& info : CpuVariants(abi::Family::kElementwise)) {
    EXPECT_TRUE(info.in_place(p, 0));
    EXPECT_FALSE(info.in_place(p, 1)) << "broadcast";
    EXPECT_FALSE(info.in_place(p, 2)) << "other element size";
    EXPECT_FALSE(info.in_place(p, 3)) << "no such input";
  }
}

}  // namespace
}  // namespace aicf::cpu
