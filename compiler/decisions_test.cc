// The log's numbers when the plan loses steps.
#include "compiler/decisions.h"

#include <gtest/gtest.h>

namespace aicf {
namespace {

Decision About(int step, std::string subject) {
  Decision d;
  d.kind = "precision";
  d.subject = std::move(subject);
  d.step = step;
  return d;
}

TEST(DecisionLog, StepsThatAreGoneTakeTheirNumbersAlong) {
  DecisionLog log;
  log.Record(About(0, "step 0 [a]"));
  log.Record(About(1, "step 1 [b]"));
  log.Record(About(12, "step 12 [b]"));
  log.Record(About(-1, "[a] -> [b]"));
  std::vector<bool> gone(13, false);
  gone[1] = gone[5] = true;
  const std::string lost = IdentityOf(log.decisions()[1]);
  log.RemoveSteps(gone);
  const auto& d = log.decisions();
  EXPECT_EQ(d[0].subject, "step 0 [a]");
  EXPECT_EQ(d[1].step, -1);
  EXPECT_EQ(IdentityOf(d[1]), lost) << "its place among equal ones stays";
  EXPECT_EQ(IdentityOf(d[2]), lost);
  EXPECT_EQ(d[2].step, 10);
  EXPECT_EQ(d[2].subject, "step 10 [b]");
  EXPECT_EQ(d[3].subject, "[a] -> [b]");
}

}  // namespace
}  // namespace aicf
