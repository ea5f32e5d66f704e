#include "base/pattern.h"

#include <gtest/gtest.h>

#include <string>

namespace aicf {
namespace {

TEST(Pattern, StarsAndQuestionMarks) {
  const struct {
    const char *pattern, *name;
    bool matches;
  } cases[] = {{"", "", true},           {"*", "", true},
               {"a", "a", true},         {"a", "ab", false},
               {"*b", "aab", true},      {"a*c*e", "abcde", true},
               {"a*c*e", "abde", false}, {"?", "x", true},
               {"?", "", false},         {"a?c", "abc", true},
               {"**a**", "bab", true},   {"*aab", "aaaab", true},
               {"a*", "b", false},       {"/l.?/*", "/l.3/Conv", true}};
  for (const auto& c : cases) EXPECT_EQ(MatchesPattern(c.pattern, c.name), c.matches) << c.pattern;
  // Work grows with the product of the lengths, not exponentially.
  EXPECT_FALSE(MatchesPattern("*a*a*a*a*a*a*a*a*b", std::string(4000, 'a')));
}

}  // namespace
}  // namespace aicf
