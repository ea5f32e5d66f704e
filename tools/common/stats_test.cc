#include "tools/common/stats.h"

#include <gtest/gtest.h>

namespace aicf::tools {
namespace {

TEST(Stats, FiguresOfAKnownSample) {
  std::vector<double> values;
  for (int i = 100; i >= 1; --i) values.push_back(i);
  const Samples s(values);
  EXPECT_EQ(s.min(), 1);
  EXPECT_EQ(s.max(), 100);
  EXPECT_DOUBLE_EQ(s.mean(), 50.5);
  EXPECT_DOUBLE_EQ(s.median(), 50.5);
  EXPECT_EQ(s.Percentile(50), 50);
  EXPECT_EQ(s.Percentile(90), 90);
  EXPECT_EQ(s.Percentile(99), 99);
  EXPECT_EQ(s.Percentile(99.5), 100);
  EXPECT_EQ(s.Percentile(100), 100);
  EXPECT_EQ(s.Percentile(0), 1);
}

TEST(Stats, OneSampleIsEveryPercentile) {
  const Samples s({2.5});
  EXPECT_EQ(s.median(), 2.5);
  EXPECT_EQ(s.Percentile(1), 2.5);
  EXPECT_EQ(s.Percentile(99), 2.5);
  EXPECT_DOUBLE_EQ(Samples({3, 1, 2}).median(), 2);
}

TEST(Stats, LineHasTrtexecsNames) {
  EXPECT_EQ(SummaryLine(Samples({1, 2}), {90, 99.9}),
            "min = 1.000 ms, max = 2.000 ms, mean = 1.500 ms, median = 1.500 ms, "
            "percentile(90%) = 2.000 ms, percentile(99.9%) = 2.000 ms");
}

}  // namespace
}  // namespace aicf::tools
