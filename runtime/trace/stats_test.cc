#include "runtime/trace/stats.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace aicf::trace {
namespace {

TEST(Stats, MedianOfOddAndEvenCounts) {
  EXPECT_EQ(Median({7}), 7);
  EXPECT_EQ(Median({9, 1, 5}), 5);
  EXPECT_EQ(Median({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(Median({2, 2, 2, 100}), 2);
}

TEST(Stats, NonDecreasingKeepsOrderedValues) {
  const std::vector<double> ordered = {1, 2, 2, 5};
  EXPECT_EQ(NonDecreasing(ordered), ordered);
  EXPECT_TRUE(NonDecreasing({}).empty());
}

TEST(Stats, NonDecreasingPoolsNeighboursOutOfOrder) {
  EXPECT_EQ(NonDecreasing({1, 4, 2, 5}), (std::vector<double>{1, 3, 3, 5}));
  EXPECT_EQ(NonDecreasing({3, 2, 1}), (std::vector<double>{2, 2, 2}));
}

TEST(Stats, NonDecreasingPreservesTheSumOfRandomSequences) {
  std::mt19937 random(11);
  std::normal_distribution<double> noise(0, 1);
  for (int round = 0; round < 200; ++round) {
    std::vector<double> values(1 + round % 37);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = 0.3 * static_cast<double>(i) + noise(random);
    const std::vector<double> fitted = NonDecreasing(values);
    ASSERT_EQ(fitted.size(), values.size());
    EXPECT_TRUE(std::is_sorted(fitted.begin(), fitted.end()));
    EXPECT_NEAR(std::accumulate(fitted.begin(), fitted.end(), 0.0),
                std::accumulate(values.begin(), values.end(), 0.0), 1e-9);
  }
}

}  // namespace
}  // namespace aicf::trace
