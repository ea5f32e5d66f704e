#include "tools/common/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/float16.h"
#include "tools/common/testing.h"

namespace aicf::tools {
namespace {

using testing::ViewOf;

Comparison CompareFloats(const std::vector<float>& got, const std::vector<float>& expected,
                         const Tolerance& tolerance) {
  return Compare(ViewOf(DType::kF32, got), ViewOf(DType::kF32, expected), tolerance);
}

TEST(Compare, EqualTensorsPassEveryTolerance) {
  const Comparison c = CompareFloats({1, 2, 3}, {1, 2, 3}, {0, 0, 0});
  EXPECT_TRUE(c.pass);
  EXPECT_EQ(c.worst, -1);
  EXPECT_EQ(c.elements, 3);
}

TEST(Compare, AbsoluteAndRelativeAdd) {
  EXPECT_TRUE(CompareFloats({100.5f}, {100}, {0.25, 0.0025, {}}).pass);
  EXPECT_FALSE(CompareFloats({100.5f}, {100}, {0.2, 0.0025, {}}).pass);
  EXPECT_FALSE(CompareFloats({0.5f}, {0}, {{}, 1.0, {}}).pass);
}

TEST(Compare, ScaledErrorUsesTheLargestExpected) {
  const Comparison c = CompareFloats({0.01f, 10}, {0, 10}, {{}, {}, 1e-3});
  EXPECT_TRUE(c.pass);
  EXPECT_NEAR(c.max_scaled_error, 1e-3, 1e-9);
  EXPECT_FALSE(CompareFloats({0.011f, 10}, {0, 10}, {{}, {}, 1e-3}).pass);
  EXPECT_FALSE(CompareFloats({1e-30f}, {0}, {{}, {}, 1e-3}).pass) << "all expected are zero";
}

TEST(Compare, ReportsTheWorstElement) {
  const Comparison c = CompareFloats({1, 5, 3}, {1, 2, 2}, {0.5, {}, {}});
  EXPECT_FALSE(c.pass);
  EXPECT_EQ(c.mismatches, 2);
  EXPECT_EQ(c.worst, 1);
  EXPECT_EQ(c.got, 5);
  EXPECT_EQ(c.expected, 2);
}

TEST(Compare, NormsMeasureTheWholeTensor) {
  const Comparison c = CompareFloats({3, 4.5f, 0}, {3, 4, 0}, {1, {}, {}});
  EXPECT_TRUE(c.pass);
  EXPECT_EQ(c.different, 1);
  EXPECT_EQ(c.mismatches, 0);
  EXPECT_NEAR(c.relative_l2, 0.5 / 5, 1e-12);
  EXPECT_NEAR(c.max_rel_error, 0.125, 1e-12);
  EXPECT_EQ(CompareFloats({0, 0}, {0, 0}, {}).relative_l2, 0);
  EXPECT_TRUE(std::isinf(CompareFloats({1, 0}, {0, 0}, {}).relative_l2));
  EXPECT_TRUE(std::isinf(CompareFloats({std::nanf(""), 0}, {1, 0}, {}).relative_l2));
}

TEST(Compare, RootMeanSquareLeavesOutWhatIsNoNumber) {
  const float nan = std::nanf(""), inf = std::numeric_limits<float>::infinity();
  EXPECT_NEAR(RootMeanSquare(ViewOf(DType::kF32, std::vector<float>{3, -4, nan, inf})),
              std::sqrt(12.5), 1e-12);
  EXPECT_EQ(RootMeanSquare(ViewOf(DType::kF32, std::vector<float>{nan})), 0);
  EXPECT_EQ(RootMeanSquare(ViewOf(DType::kF32, std::vector<float>{})), 0);
  EXPECT_EQ(RootMeanSquare(ViewOf(DType::kI8, std::vector<int8_t>{-2, 2})), 2);
}

TEST(Compare, SpecialValuesMustMatchEachOther) {
  const float nan = std::nanf(""), inf = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(CompareFloats({nan, inf, -inf}, {nan, inf, -inf}, {0, 0, 0}).pass);
  for (const auto& [a, b] :
       {std::pair{nan, 1.f}, {1.f, nan}, {inf, -inf}, {inf, 1.f}, {1.f, inf}}) {
    EXPECT_FALSE(CompareFloats({a}, {b}, {1e9, 1e9, {}}).pass) << a << " " << b;
    EXPECT_FALSE(CompareFloats({a, 1}, {b, 1}, {{}, {}, 1e9}).pass) << a << " " << b;
  }
}

TEST(Compare, IntegersAreExactBeyondDoubles) {
  const int64_t big = (int64_t{1} << 60) + 1;
  const std::vector<int64_t> got = {big}, expected = {big - 1};
  const Comparison c =
      Compare(ViewOf(DType::kI64, got), ViewOf(DType::kI64, expected), {0, {}, {}});
  EXPECT_FALSE(c.pass);
  EXPECT_EQ(c.max_abs_error, 1);
}

TEST(Compare, HalvesAgainstFloats) {
  const std::vector<uint16_t> half = {F32ToF16(1.5f), F32ToF16(-2.f)};
  const std::vector<float> expected = {1.5f, -2.f};
  EXPECT_TRUE(Compare(ViewOf(DType::kF16, half), ViewOf(DType::kF32, expected), {0, 0, 0}).pass);
  const std::vector<uint16_t> brain = {F32ToBF16(1.5f), F32ToBF16(-2.f)};
  EXPECT_TRUE(Compare(ViewOf(DType::kBF16, brain), ViewOf(DType::kF32, expected), {0, 0, 0}).pass);
}

TEST(Compare, NothingToCompareIsEqual) { EXPECT_TRUE(CompareFloats({}, {}, {0, 0, 0}).pass); }

TEST(Compare, DefaultsOnlyWhenNothingIsSet) {
  EXPECT_EQ(Tolerance{}.OrDefault().ToString(), "atol 1e-05, rtol 1e-05");
  EXPECT_EQ((Tolerance{{}, {}, 1e-4}).OrDefault().ToString(), "rel 0.0001");
}

TEST(Compare, IndexOfAFlatPosition) {
  EXPECT_EQ(IndexText(57, Dims{4, 18}), "3,3");
  EXPECT_EQ(IndexText(0, Dims{}), "");
}

}  // namespace
}  // namespace aicf::tools
