#include "compiler/passes/graph/head_axes.h"

#include <gtest/gtest.h>

namespace aicf {
namespace {

constexpr HeadAxes kTo{2, 6, 5};

TEST(HeadAxes, TheAxesThemselves) {
  EXPECT_EQ(OwnHeads({2, 6, 5}, {2, 6, 5}, kTo), Dims({2, 6, 5}));
  EXPECT_EQ(OwnHeads({2, 6, 5}, {1, 6, 1}, kTo), Dims({1, 6, 1}));
  EXPECT_EQ(OwnHeads({2, 6, 5}, {1, 1, 1}, kTo), Dims({1, 1, 1}));
}

TEST(HeadAxes, OneAxisOfBatchAndHeads) {
  EXPECT_EQ(OwnHeads({12, 5}, {12, 5}, kTo), Dims({2, 6, 5}));
  EXPECT_EQ(OwnHeads({12, 5}, {1, 5}, kTo), Dims({1, 1, 5}));
}

TEST(HeadAxes, GroupsAndTheirShares) {
  EXPECT_EQ(OwnHeads({2, 3, 2, 5}, {2, 3, 2, 5}, kTo), Dims({2, 6, 5}));
  EXPECT_EQ(OwnHeads({2, 3, 2, 5}, {2, 3, 1, 1}, kTo), Dims({2, 3, 1}));  // neighbours share
  EXPECT_EQ(OwnHeads({2, 3, 2, 5}, {2, 1, 2, 1}, kTo), std::nullopt);     // every other head
}

TEST(HeadAxes, HeadsAsRowsOfOneQuery) {
  constexpr HeadAxes kOne{2, 6, 1};
  EXPECT_EQ(OwnHeads({2, 3, 2}, {2, 3, 2}, kOne), Dims({2, 6, 1}));
  EXPECT_EQ(OwnHeads({2, 3, 2}, {2, 3, 1}, kOne), Dims({2, 3, 1}));
}

TEST(HeadAxes, WindowsBesideTheBatch) {
  constexpr HeadAxes kWindows{6, 4, 5};
  EXPECT_EQ(OwnHeads({2, 3, 4, 5}, {1, 1, 4, 5}, kWindows), Dims({1, 4, 5}));
  // One mask per window, for each of the batch: it has to be repeated.
  EXPECT_EQ(OwnHeads({2, 3, 4, 5}, {1, 3, 1, 5}, kWindows), std::nullopt);
}

TEST(HeadAxes, AxesThatDoNotDivide) {
  EXPECT_EQ(OwnHeads({3, 4, 5}, {3, 4, 5}, kTo), Dims({2, 6, 5}));  // all of it can be reshaped
  EXPECT_EQ(OwnHeads({3, 4, 5}, {3, 1, 5}, kTo), std::nullopt);
  EXPECT_EQ(OwnHeads({2, 6, 4}, {2, 6, 4}, kTo), std::nullopt);
}

TEST(HeadAxes, AxesOfOne) {
  constexpr HeadAxes kOnes{1, 1, 5};
  EXPECT_EQ(OwnHeads({5}, {5}, kOnes), Dims({1, 1, 5}));
  EXPECT_EQ(OwnHeads({1, 1, 5}, {1, 1, 1}, kOnes), Dims({1, 1, 1}));
}

}  // namespace
}  // namespace aicf
