// The log keeps decisions as bytes; what comes out is what went in.
#include <gtest/gtest.h>

#include "compiler/decisions/decisions.h"

namespace aicf {
namespace {

Decision Fused(int n) {
  Decision d;
  d.kind = DecisionKind::kFusion;
  d.subject = schema::Subject::Edge({"a", StrCat("node ", n)}, {"b"});
  d.choice = "one elementwise step";
  d.pass = "fuse-elementwise";
  d.cost_us = n % 3 == 0 ? -1 : 0.1 * n;
  d.Because(Reason::kRule, "\"quoted\" \\ \x1b and \xc3\xa4");
  d.alternatives = {{"separate", StrCat("cost: ", n), -1, 2.5}};
  return d;
}

DecisionLog LogOfMany(int count) {
  DecisionLog log;
  for (int n = 0; n < count; ++n) log.Record(Fused(n));
  return log;
}

TEST(DecisionLog, GivesBackWhatWasRecorded) {
  const DecisionLog log = LogOfMany(20'000);
  int n = 0;
  log.ForEach([&](const Decision& d) {
    ASSERT_EQ(d, Fused(n)) << n;
    ++n;
  });
  ASSERT_EQ(log.decisions().size(), 20'000u);
  const DecisionLog copy = log;
  EXPECT_EQ(copy.ToJsonLines(), log.ToJsonLines());
  const auto read = DecisionLog::Parse(log.ToJsonLines());
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(read->decisions(), log.decisions());
}

TEST(DecisionLog, ForgetsTheLastOnes) {
  for (size_t kept : {size_t{0}, size_t{1}, size_t{7'000}, size_t{19'999}, size_t{20'000}}) {
    DecisionLog log = LogOfMany(20'000);
    log.Truncate(kept);
    EXPECT_EQ(log.size(), kept);
    EXPECT_EQ(log.decisions(), LogOfMany(static_cast<int>(kept)).decisions()) << kept;
    log.Record(Fused(5));
    EXPECT_EQ(log.decisions().back(), Fused(5));
  }
}

TEST(DecisionLog, SaysHowManyABudgetLeavesOut) {
  const DecisionLog log = LogOfMany(100);
  const std::string all = log.ToJsonLines();
  EXPECT_EQ(log.ToJsonLines(static_cast<int64_t>(all.size())), all);
  const auto read = DecisionLog::Parse(log.ToJsonLines(static_cast<int64_t>(all.size()) / 2));
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  const std::vector<Decision>& kept = read->decisions();
  ASSERT_GT(kept.size(), 40u);
  ASSERT_LT(kept.size(), 60u);
  EXPECT_EQ(kept.back().kind, DecisionKind::kLog);
  EXPECT_EQ(kept.back().choice, StrCat(101 - kept.size(), " more are left out"));
  EXPECT_EQ(kept[0], Fused(0));
}

}  // namespace
}  // namespace aicf
