#include "kernels/abi/operation_count.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/abi/validate_faults.h"

namespace aicf::abi {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

double OperationsOf(const Problem& p) {
  EXPECT_EQ(ValidateProblem(p).message(), "");
  return OperationCount(p);
}

TEST(OperationCount, ProductsAndConvolutions) {
  EXPECT_EQ(OperationsOf(ProblemOf(Family::kGemm, GemmAttrs{}, 2, {F32({2, 3}), F32({3, 4})},
                                   {F32({2, 4})})),
            8 + 8 * 3);
  EXPECT_EQ(OperationsOf(ProblemOf(Family::kConv, ConvAttrs{{1}, {1}, {0}, {0}, 1, false}, 2,
                                   {F32({1, 4, 9}), F32({6, 4, 3})}, {F32({1, 6, 7})})),
            42 + 42 * 4 * 3);
  EXPECT_EQ(OperationsOf(ProblemOf(Family::kConv, ConvAttrs{{1}, {1}, {0}, {0}, 1, true}, 2,
                                   {F32({1, 4, 7}), F32({4, 6, 3})}, {F32({1, 6, 9})})),
            54 + 28 * 6 * 3);
}

// A product over one element that is repeated 2^40 times takes no memory, but time.
TEST(OperationCount, RepeatedElementsCount) {
  const int64_t many = int64_t{1} << 40;
  EXPECT_GT(OperationsOf(ProblemOf(Family::kGemm, GemmAttrs{}, 2,
                                   {Repeated({1, many}), Repeated({many, 1})}, {F32({1, 1})})),
            1e12);
  EXPECT_GT(OperationsOf(ProblemOf(Family::kReduce, ReduceAttrs{ReduceKind::kSum, {0}, false}, 1,
                                   {Repeated({many})}, {F32({1})})),
            1e12);
}

// What lies outside the input costs nothing; what lies inside is all there is.
TEST(OperationCount, WindowsEndAtTheInput) {
  const auto pool = [](int64_t kernel) {
    return ProblemOf(Family::kPool,
                     PoolAttrs{PoolKind::kMax, {kernel}, {1}, {1}, {kernel}, {kernel}}, 1,
                     {F32({1, 1, 10})}, {F32({1, 1, 4})});
  };
  EXPECT_EQ(OperationsOf(pool(3)), 4 + 4 * 3);
  EXPECT_EQ(OperationsOf(pool(1 << 29)), 4 + 4 * 10);
}

TEST(OperationCount, SamplesOfBoxes) {
  const auto roi = [](RoiKind kind, int64_t ratio) {
    return ProblemOf(Family::kRoi, RoiAttrs{kind, 1, ratio, true}, 3,
                     {F32({1, 2, 8, 8}), F32({3, 4}), I64({3})}, {F32({3, 2, 2, 2})});
  };
  EXPECT_EQ(OperationsOf(roi(RoiKind::kAlignMax, 1024)), 24 + 24 * 4 * 1024.0 * 1024.0);
  EXPECT_EQ(OperationsOf(roi(RoiKind::kAlignAverage, 0)), 24 + 24 * 4 * 5.0 * 5.0);
  EXPECT_EQ(OperationsOf(roi(RoiKind::kPoolMax, 0)), 24 + 24 * 4 * 64.0);
}

TEST(OperationCount, ResizesBlendAlongTheAxesThatChange) {
  ResizeAttrs a;
  a.mode = ResizeMode::kCubic;
  a.scales = {1, 2, 2};
  EXPECT_EQ(OperationsOf(ProblemOf(Family::kResize, a, 1, {F32({2, 3, 4})}, {F32({2, 6, 8})})),
            96 + 96 * 16);
}

TEST(OperationCount, ExpressionsCountByTheirOperators) {
  auto p = ProblemOf(Family::kElementwise, ElementwiseAttrs{}, 1, {F32({5})}, {F32({5})});
  ExprBuilder b;
  p.epilogue = b.Finish({b.Unary(ExprOp::kExp, b.Input(0, DType::kF32))});
  EXPECT_EQ(OperationsOf(p), 5 + 5 * 2);
}

}  // namespace
}  // namespace aicf::abi
