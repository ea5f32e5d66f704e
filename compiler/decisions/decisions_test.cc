// The log's numbers when the plan loses steps.
#include "compiler/decisions/decisions.h"

#include <gtest/gtest.h>

namespace aicf {
namespace {

Decision About(schema::Subject subject) {
  Decision d;
  d.kind = DecisionKind::kPrecision;
  d.subject = std::move(subject);
  return d;
}

TEST(DecisionLog, StepsThatAreGoneTakeTheirNumbersAlong) {
  DecisionLog log;
  log.Record(About(schema::Subject::Step(0, {"a"})));
  log.Record(About(schema::Subject::Step(1, {"b"})));
  log.Record(About(schema::Subject::Step(12, {"b"})));
  log.Record(About(schema::Subject::Edge({"a"}, {"b"})));
  std::vector<bool> gone(13, false);
  gone[1] = gone[5] = true;
  const std::string lost = IdentityOf(log.decisions()[1]);
  log.RemoveSteps(gone);
  const auto& d = log.decisions();
  EXPECT_EQ(ToString(d[0].subject), "step 0 [a]");
  EXPECT_EQ(d[1].subject.step, -1);
  EXPECT_EQ(IdentityOf(d[1]), lost) << "its place among equal ones stays";
  EXPECT_EQ(IdentityOf(d[2]), lost);
  EXPECT_EQ(d[2].subject.step, 10);
  EXPECT_EQ(ToString(d[2].subject), "step 10 [b]");
  EXPECT_EQ(ToString(d[3].subject), "[a] -> [b]");
}

}  // namespace
}  // namespace aicf
