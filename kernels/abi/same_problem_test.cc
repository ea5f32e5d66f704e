#include "kernels/abi/same_problem.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "kernels/abi/small_changes.h"

namespace aicf::abi {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

TEST(SameProblem, EveryAttributeCounts) {
  const std::vector<Attrs> all = AllAttrs();
  for (size_t f = 0; f < all.size(); ++f) {
    Problem p = SomeProblem();
    p.family = static_cast<Family>(f);
    p.attrs = all[f];
    EXPECT_TRUE(SameProblem(p, Problem(p))) << FamilyName(p.family);
    const int fields = NudgeField(p.attrs, -1);
    for (int i = 0; i < fields; ++i) {
      Problem other = p;
      NudgeField(other.attrs, i);
      EXPECT_FALSE(SameProblem(p, other)) << FamilyName(p.family) << " field " << i;
      EXPECT_TRUE(SameProblem(other, Problem(other))) << FamilyName(p.family) << " field " << i;
    }
  }
}

TEST(SameProblem, EveryOtherFieldCounts) {
  const Problem p = SomeProblem();
  EXPECT_TRUE(SameProblem(p, SomeProblem()));
  int i = 0;
  for (const auto change : ProblemChanges()) {
    Problem other = p;
    change(other);
    EXPECT_FALSE(SameProblem(p, other)) << "change " << i;
    EXPECT_FALSE(SameProblem(other, p)) << "change " << i;
    ++i;
  }
}

// Equal problems have equal texts, also where comparing numbers would say otherwise.
TEST(SameProblem, RealsAreComparedByTheirBits) {
  Problem zero = SomeProblem();
  zero.family = Family::kResize;
  ResizeAttrs attrs;
  attrs.scales = {0.0, std::numeric_limits<double>::quiet_NaN()};
  zero.attrs = attrs;
  EXPECT_TRUE(SameProblem(zero, Problem(zero)));
  Problem minus = zero;
  std::get<ResizeAttrs>(minus.attrs).scales[0] = -0.0;
  EXPECT_FALSE(SameProblem(zero, minus));
  EXPECT_NE(ToString(zero), ToString(minus));
}

}  // namespace
}  // namespace aicf::abi
