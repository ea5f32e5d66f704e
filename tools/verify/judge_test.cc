// Tolerances of steps, and the judgement of one output.
#include "tools/verify/judge.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/abi/kernel.h"
#include "schema/testing.h"
#include "tools/common/testing.h"
#include "tools/verify/product_bounds.h"

namespace aicf::tools {
namespace {

using abi::ExprOp;
using abi::Family;
using abi::MathMode;
using abi::Problem;
using schema::testing::Core;
using schema::testing::Elementwise;
using testing::ViewOf;

Problem Gemm(int64_t rows, int64_t depth, int64_t columns, DType dtype = DType::kF32) {
  Problem p = Core(Family::kGemm, abi::GemmAttrs{}, 2);
  p.inputs = {abi::DenseView(dtype, {rows, depth}), abi::DenseView(dtype, {depth, columns})};
  p.outputs = {abi::DenseView(dtype, {rows, columns})};
  return p;
}

Problem Map(ExprOp op, DType dtype = DType::kF32) {
  Problem p = Elementwise(op, dtype);
  p.inputs.assign(static_cast<size_t>(p.core_inputs), abi::DenseView(dtype, {8}));
  p.outputs = {abi::DenseView(dtype, {8})};
  return p;
}

// A turn is a sum of two products; rows that are only moved are exact, and those that are stored in
// another dtype round once.
TEST(StepTolerance, OfAppends) {
  Problem p;
  p.family = abi::Family::kAppend;
  p.attrs = abi::AppendAttrs{};
  const abi::View rows = abi::DenseView(DType::kF32, {1, 1, 1, 8});
  p.inputs = {rows, rows, abi::DenseView(DType::kI32, {1, 1, 2}), rows, rows};
  p.outputs = {rows, rows};
  EXPECT_TRUE(ToleranceOf(p).exact);
  p.attrs = abi::AppendAttrs{4};
  EXPECT_EQ(ReductionLength(p), 2);
  EXPECT_FALSE(ToleranceOf(p).exact);
  EXPECT_LT(ToleranceOf(p).eps, 1e-5);
  p.attrs = abi::AppendAttrs{};
  p.outputs[0].dtype = DType::kBF16;
  EXPECT_FALSE(ToleranceOf(p).exact);
}

TEST(StepTolerance, GrowsWithTheRootOfTheReductionLength) {
  EXPECT_EQ(ReductionLength(Gemm(2, 4096, 3)), 4096);
  const double one = ToleranceOf(Gemm(2, 1, 3)).eps, many = ToleranceOf(Gemm(2, 10000, 3)).eps;
  EXPECT_NEAR(one, 2 * 0x1p-24 + 16 * 0x1p-24, 1e-12);
  EXPECT_NEAR(many, 2 * 0x1p-24 + 16 * 0x1p-24 * 100, 1e-12);
  // Far below the smallest fault: one of the terms missing.
  for (int64_t depth : {2, 64, 4096, 65536}) {
    EXPECT_LT(ToleranceOf(Gemm(2, depth, 3)).eps * 10, 1 / std::sqrt(static_cast<double>(depth)));
  }
}

// Sums of float8 have the bits that tensor cores keep; as those of a block, where blocks have
// scales.
TEST(StepTolerance, KnowsHowManyBitsTensorCoresKeepOfFloat8) {
  Problem p = Gemm(2, 8192, 3, DType::kF8E4M3FN);
  p.outputs[0].dtype = DType::kF32;
  const double exact = ToleranceOf(p).eps;
  p.math = MathMode::kFp8;
  EXPECT_NEAR(ToleranceOf(p).eps - exact, 16 * 0x1p-14 * 16, 1e-9);
  EXPECT_LT(ToleranceOf(p).eps, 0.02);
  std::get<abi::GemmAttrs>(p.attrs).scale_terms = 128;
  EXPECT_NEAR(ToleranceOf(p).eps - exact, 16 * 0x1p-14 * 2, 1e-9);
  p.attrs = abi::GemmAttrs{};
  p.inputs[1].dtype = DType::kF32;
  EXPECT_NEAR(ToleranceOf(p).eps - exact, 2 * 16 * 0x1p-4, 1e-9);  // rounded, and added otherwise
}

TEST(StepTolerance, KnowsWhatTheMathModeRounds) {
  Problem p = Gemm(2, 64, 3);
  const double fp32 = ToleranceOf(p).eps;
  p.math = MathMode::kTf32;
  const double tf32 = ToleranceOf(p).eps;
  EXPECT_NEAR(tf32 - fp32, 32 * 0x1p-11, 1e-9);
  p.math = MathMode::kFp16;
  EXPECT_EQ(ToleranceOf(p).eps, tf32);
  p.math = MathMode::kBf16;
  EXPECT_GT(ToleranceOf(p).eps, tf32);
  // f16 operands lose nothing as f16 or tf32.
  Problem half = Gemm(2, 64, 3, DType::kF16);
  const double stored = ToleranceOf(half).eps;
  half.math = MathMode::kFp16;
  EXPECT_EQ(ToleranceOf(half).eps, stored);
  half.math = MathMode::kBf16;
  EXPECT_GT(ToleranceOf(half).eps, stored);
}

TEST(StepTolerance, ReductionLengthsOfTheFamilies) {
  Problem conv = Core(Family::kConv, abi::ConvAttrs{{1, 1}, {1, 1}, {0, 0}, {0, 0}, 2, false}, 2);
  conv.inputs = {abi::DenseView(DType::kF32, {1, 8, 9, 9}),
                 abi::DenseView(DType::kF32, {6, 4, 3, 3})};
  conv.outputs = {abi::DenseView(DType::kF32, {1, 6, 7, 7})};
  EXPECT_EQ(ReductionLength(conv), 36);
  conv.attrs = abi::ConvAttrs{{1, 1}, {1, 1}, {0, 0}, {0, 0}, 2, true};
  conv.inputs[1] = abi::DenseView(DType::kF32, {8, 3, 3, 3});
  EXPECT_EQ(ReductionLength(conv), 36) << "4 of the 8 channels feed an output channel";
  Problem sum = Core(Family::kReduce, abi::ReduceAttrs{abi::ReduceKind::kSum, {0, 2}, false}, 1);
  sum.inputs = {abi::DenseView(DType::kF32, {4, 5, 6})};
  sum.outputs = {abi::DenseView(DType::kF32, {1, 5, 1})};
  EXPECT_EQ(ReductionLength(sum), 24);
  EXPECT_FALSE(ToleranceOf(sum).exact);
  sum.attrs = abi::ReduceAttrs{abi::ReduceKind::kMax, {0, 2}, false};
  EXPECT_TRUE(ToleranceOf(sum).exact);
}

TEST(StepTolerance, WhatHasOneResultMustHaveIt) {
  EXPECT_TRUE(ToleranceOf(Map(ExprOp::kMax)).exact);
  EXPECT_TRUE(ToleranceOf(Map(ExprOp::kNeg)).exact);
  EXPECT_TRUE(ToleranceOf(Map(ExprOp::kAdd, DType::kI32)).exact);
  EXPECT_FALSE(ToleranceOf(Map(ExprOp::kExp)).exact);
  EXPECT_FALSE(ToleranceOf(Map(ExprOp::kAdd)).exact);
  EXPECT_TRUE(ToleranceOf(Gemm(2, 3, 4, DType::kI32)).exact);
  EXPECT_LT(ToleranceOf(Map(ExprOp::kExp)).eps, 4e-6);
}

TEST(Judge, GathersTheViewOnly) {
  const std::vector<float> buffer = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const auto bytes = std::as_bytes(std::span(buffer));
  const auto gather = [&](const Dims& shape, const Dims& strides, int64_t offset) {
    const auto out = Gather({DType::kF32, shape, strides, offset}, bytes);
    std::vector<float> values(out.size() / 4);
    std::memcpy(values.data(), out.data(), out.size());
    return values;
  };
  EXPECT_EQ(gather({2, 2}, {6, 1}, 2), (std::vector<float>{2, 3, 8, 9}));
  EXPECT_EQ(gather({3, 2}, {1, 3}, 0), (std::vector<float>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(gather({3}, {-2}, 10), (std::vector<float>{10, 8, 6}));
  EXPECT_EQ(gather({}, {}, 4), (std::vector<float>{4}));
  EXPECT_EQ(gather({2, 0}, {1, 1}, 0), std::vector<float>{});
  EXPECT_EQ(gather({2, 2, 2}, {6, 2, 1}, 1), (std::vector<float>{1, 2, 3, 4, 7, 8, 9, 10}));
}

TEST(Judge, ErrorsAreMeasuredByTheElementAndTheNorm) {
  const StepTolerance own{1e-3, false};
  const std::vector<float> want = {0, 0, 0, 2};  // a root mean square of 1
  const auto pass = [&](const std::vector<float>& got) {
    return Judge(ViewOf(DType::kF32, got), ViewOf(DType::kF32, want), own, {}).pass;
  };
  EXPECT_TRUE(pass({0.00099f, 0, 0, 2}));
  EXPECT_FALSE(pass({0.00101f, 0, 0, 2}));
  EXPECT_TRUE(pass({0, 0, 0, 2.0029f}));
  EXPECT_FALSE(pass({0, 0, 0, 2.0031f}));
  EXPECT_FALSE(pass({0, 0, 0, std::nanf("")}));
}

TEST(Judge, ExactMeansExact) {
  const StepTolerance own{0, true};
  const std::vector<int32_t> want = {1, 2, 3}, near = {1, 2, 4};
  EXPECT_TRUE(Judge(ViewOf(DType::kI32, want), ViewOf(DType::kI32, want), own, {}).pass);
  EXPECT_FALSE(Judge(ViewOf(DType::kI32, near), ViewOf(DType::kI32, want), own, {}).pass);
  EXPECT_TRUE(Judge(ViewOf(DType::kI32, near), ViewOf(DType::kI32, want), own, {1.0, {}, {}}).pass);
}

TEST(Judge, AFewQuantisedElementsMayRoundTheOtherWay) {
  const StepTolerance own{1e-6, false};
  const std::vector<int8_t> want(10000, 5);
  const auto pass = [&](int count, int8_t value) {
    std::vector<int8_t> got = want;
    for (int i = 0; i < count; ++i) got[static_cast<size_t>(i) * 7] = value;
    return Judge(ViewOf(DType::kI8, got), ViewOf(DType::kI8, want), own, {}).pass;
  };
  EXPECT_TRUE(pass(10, 6));
  EXPECT_TRUE(pass(10, 4));
  EXPECT_FALSE(pass(10, 7)) << "two units are no rounding";
  EXPECT_FALSE(pass(20, 6)) << "too many";
}

std::optional<ProductBounds> Bounds(const Problem& p, const std::vector<std::vector<float>>& in) {
  std::vector<const std::byte*> operands;
  std::vector<size_t> bytes;
  for (const auto& v : in) {
    operands.push_back(reinterpret_cast<const std::byte*>(v.data()));
    bytes.push_back(v.size() * 4);
  }
  return BoundProduct(p, operands, bytes);
}

float FloatAt(const std::vector<std::byte>& bytes, size_t i) {
  float v;
  std::memcpy(&v, &bytes[i * 4], 4);
  return v;
}

TEST(ProductBounds, WidenWhereTermsCancel) {
  const Problem p = Gemm(1, 2, 2);
  // Columns: 1000 * 1 - 999 * 1 and 1 * 1 + 0: sums of magnitudes 1999 and 1000.
  const auto bounds = Bounds(p, {{1000, 999}, {1, 1, -1, 0}});
  ASSERT_TRUE(bounds.has_value());
  const double factor = 4 * 0x1p-24 * std::sqrt(2.0);
  EXPECT_NEAR(TermFactor(p), factor, 1e-12);
  EXPECT_NEAR(FloatAt(bounds->high[0], 0) - FloatAt(bounds->low[0], 0), 2 * factor * 1999, 2e-7);
  EXPECT_NEAR(FloatAt(bounds->high[0], 1), 1000 * (1 + factor), 1e-4);
}

// One row of two groups times blocks of 32 ones (f32 as blocks of one element each). As integers
// the rounding of each element is relative to the largest of its group.
TEST(ProductBounds, OfBlocksFollowTheirGroups) {
  Problem p;
  p.family = abi::Family::kBlockGemm;
  p.attrs = abi::BlockGemmAttrs{BlockFormat::kF32};
  p.math = abi::MathMode::kInt8;
  p.inputs = {abi::DenseView(DType::kF32, {1, 64}), abi::DenseView(DType::kU8, {1, 256})};
  p.core_inputs = 2;
  p.outputs = {abi::DenseView(DType::kF32, {1, 1})};
  ASSERT_EQ(abi::ValidateProblem(p).message(), "");
  std::vector<float> row(64, 0), ones(64, -1);
  row[3] = 100;
  row[40] = -2;
  const auto bounds = Bounds(p, {row, ones});
  ASSERT_TRUE(bounds.has_value());
  const double reach = TermFactor(p) * (32 * 100 + 32 * 2);
  EXPECT_NEAR(FloatAt(bounds->low[0], 0), -98 - reach, 1e-2);
  EXPECT_NEAR(FloatAt(bounds->high[0], 0), -98 + reach, 1e-2);
  p.math = abi::MathMode::kFp32;
  const auto exact = Bounds(p, {row, ones});
  ASSERT_TRUE(exact.has_value());
  EXPECT_NEAR(FloatAt(exact->high[0], 0), -98 + TermFactor(p) * 102, 1e-4);
}

TEST(ProductBounds, GoThroughTheEpilogue) {
  Problem p = Gemm(1, 2, 1);
  p.inputs.push_back(abi::View{DType::kF32, {1, 1}, {0, 0}, 0});
  abi::ExprBuilder b;
  const uint16_t shifted = b.Binary(ExprOp::kAdd, b.Input(0, DType::kF32), b.Input(1, DType::kF32));
  p.epilogue = b.Finish({b.Binary(ExprOp::kMax, shifted, b.Const(0, DType::kF32))});
  p.math = MathMode::kFp16;
  const auto bounds = Bounds(p, {{1000, -1000}, {1, 1}, {0.25f}});
  ASSERT_TRUE(bounds.has_value());
  EXPECT_EQ(FloatAt(bounds->low[0], 0), 0) << "below zero everything is zero";
  EXPECT_NEAR(FloatAt(bounds->high[0], 0), 0.25 + 2 * 0x1p-11 * 2000, 1e-2);
}

TEST(ProductBounds, OfTwoHalvesAreThoseOfAllCorners) {
  Problem p = Gemm(1, 2, 2);
  p.outputs = {abi::DenseView(DType::kF32, {1, 1})};
  abi::GemmAttrs halves;
  halves.halves = 2;
  p.attrs = halves;
  abi::ExprBuilder b;
  p.epilogue = b.Finish({b.Binary(ExprOp::kSub, b.Input(0, DType::kF32), b.Input(1, DType::kF32))});
  p.math = MathMode::kFp16;
  // 1000 - 1000 minus 500 - 499: shifted alike, the two errors would cancel.
  const auto bounds = Bounds(p, {{1000, 1}, {1, 0.5f, -1000, -499}});
  ASSERT_TRUE(bounds.has_value());
  const double room = TermFactor(p) * (2000 + 999);
  EXPECT_NEAR(FloatAt(bounds->low[0], 0), -1 - room, 1e-2);
  EXPECT_NEAR(FloatAt(bounds->high[0], 0), -1 + room, 1e-2);
}

// Rows 2 +- 1 with mean 2 and scale 1: sum - mean * 3, and the second sum apart from the first.
TEST(ProductBounds, OfSumsWhoseRowsHaveMoments) {
  Problem p = Gemm(1, 2, 2);
  abi::GemmAttrs attrs;
  attrs.moments_epsilon = 0;
  attrs.stores_moments = 1;
  p.attrs = attrs;
  p.math = MathMode::kFp16;
  p.outputs.push_back(abi::DenseView(DType::kF32, {1, 2}));
  abi::ExprBuilder b;
  const uint16_t mean = b.Binary(ExprOp::kMul, b.Input(1, DType::kF32), b.Const(-3, DType::kF32));
  const uint16_t centred = b.Binary(ExprOp::kAdd, b.Input(0, DType::kF32), mean);
  p.epilogue = b.Finish({b.Binary(ExprOp::kMul, centred, b.Input(2, DType::kF32))});
  const auto bounds = Bounds(p, {{1, 3}, {1, 2, 2, 1}});
  ASSERT_TRUE(bounds.has_value());
  ASSERT_EQ(bounds->low.size(), 1u) << "moments are no result of the epilogue";
  const double room = TermFactor(p);
  EXPECT_NEAR(FloatAt(bounds->low[0], 0), 1 - 7 * room, 1e-4);
  EXPECT_NEAR(FloatAt(bounds->high[0], 0), 1 + 7 * room, 1e-4);
  EXPECT_NEAR(FloatAt(bounds->high[0], 1), -1 + 5 * room, 1e-4);
}

// 1 / sqrt(mean of squares - square of the mean) of numbers around 100: what f32 sums lose is a
// thousand times as much of the difference.
TEST(ProductBounds, OfASumWidenWhereTheEpilogueTakesMostOfItAway) {
  Problem p;
  p.family = abi::Family::kReduce;
  p.attrs = abi::ReduceAttrs{abi::ReduceKind::kMean, {0}, false};
  p.inputs = {abi::DenseView(DType::kF32, {4}), abi::DenseView(DType::kF32, {1})};
  p.outputs = {abi::DenseView(DType::kF32, {1})};
  p.core_inputs = 1;
  abi::ExprBuilder square, deviation;
  const uint16_t x = square.Input(0, DType::kF32);
  p.prologue = square.Finish({square.Binary(ExprOp::kMul, x, x)});
  const uint16_t mean = deviation.Input(1, DType::kF32);
  p.epilogue = deviation.Finish({deviation.Unary(
      ExprOp::kRsqrt, deviation.Binary(ExprOp::kSub, deviation.Input(0, DType::kF32),
                                       deviation.Binary(ExprOp::kMul, mean, mean)))});
  const auto bounds = Bounds(p, {{99, 101, 97, 103}, {100}});
  ASSERT_TRUE(bounds.has_value());
  const double exact = 1 / std::sqrt(5.0), delta = TermFactor(p) * 10005;
  EXPECT_NEAR(FloatAt(bounds->low[0], 0), 1 / std::sqrt(5 - delta), 2e-4);
  EXPECT_NEAR(FloatAt(bounds->high[0], 0), 1 / std::sqrt(5 + delta), 2e-4);
  EXPECT_GT(FloatAt(bounds->low[0], 0) - exact, 5e-5);
  EXPECT_LT(FloatAt(bounds->low[0], 0) - exact, 5e-3);
  p.attrs = abi::ReduceAttrs{abi::ReduceKind::kMax, {0}, false};
  EXPECT_FALSE(Bounds(p, {{99, 101, 97, 103}, {100}}).has_value());
}

TEST(ProductBounds, AreForProductsOfFloatsOnly) {
  EXPECT_FALSE(Bounds(Map(ExprOp::kAdd), {{1}, {2}}).has_value());
  EXPECT_FALSE(Bounds(Gemm(1, 1, 1, DType::kI32), {{1}, {2}}).has_value());
}

TEST(ProductBounds, MakeRoomForCancellationAndNoMore) {
  const StepTolerance own{1e-6, false};
  const std::vector<float> want = {1, 1}, low = {0.9f, 1}, high = {1.1f, 1};
  const auto pass = [&](const std::vector<float>& got) {
    const auto v = [](const std::vector<float>& values) { return ViewOf(DType::kF32, values); };
    const Judgement failed = Judge(v(got), v(want), own, {});
    EXPECT_FALSE(failed.pass);
    return JudgeWithin(v(got), v(want), v(low), v(high), own, failed).pass;
  };
  EXPECT_TRUE(pass({1.09f, 1}));
  EXPECT_TRUE(pass({0.91f, 1}));
  EXPECT_FALSE(pass({1.2f, 1}));
  EXPECT_FALSE(pass({1, 1.05f})) << "the room is the element's own";
  EXPECT_FALSE(pass({std::nanf(""), 1}));
}

}  // namespace
}  // namespace aicf::tools
