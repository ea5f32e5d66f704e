#include "tools/inspect/names.h"

#include <gtest/gtest.h>

#include <random>

#include "base/edit_distance.h"
#include "base/pattern.h"
#include "tools/inspect/wrap.h"

namespace aicf::tools {
namespace {

using Names = std::vector<std::string>;

TEST(Names, Globs) {
  EXPECT_TRUE(MatchesPattern("*", ""));
  EXPECT_TRUE(MatchesPattern("", ""));
  EXPECT_FALSE(MatchesPattern("", "a"));
  EXPECT_TRUE(MatchesPattern("a*c", "abbbc"));
  EXPECT_TRUE(MatchesPattern("a*b*c", "a-b-b-c"));
  EXPECT_FALSE(MatchesPattern("a*b*c", "a-c-b"));
  EXPECT_TRUE(MatchesPattern("?.Conv_*", "m.Conv_12"));
  EXPECT_FALSE(MatchesPattern("Conv_?", "Conv_12"));
  EXPECT_TRUE(MatchesPattern("**x", "aax"));
  // As long as it is wrong to the end, and quick all the same.
  EXPECT_FALSE(MatchesPattern("*a*a*a*a*a*a*a*a*b", std::string(20000, 'a')));
}

size_t PlainDistance(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return a.size() + b.size();
  const std::string x = a.substr(1), y = b.substr(1);
  const size_t kept = PlainDistance(x, y) + (a[0] == b[0] ? 0 : 1);
  return std::min({kept, PlainDistance(x, b) + 1, PlainDistance(a, y) + 1});
}

TEST(Names, EditDistanceIsThatOfTheDefinition) {
  std::mt19937 random(5);
  for (int i = 0; i < 200; ++i) {
    std::string a, b;
    for (size_t n = random() % 6; n > 0; --n) a += static_cast<char>('a' + random() % 3);
    for (size_t n = random() % 6; n > 0; --n) b += static_cast<char>('a' + random() % 3);
    EXPECT_EQ(EditDistance(a, b), PlainDistance(a, b)) << a << " " << b;
  }
}

TEST(Names, NearestAreThoseThatHoldTheWordThenTheAlike) {
  const Names names = {"backbone/Conv_1", "backbone/Conv_12", "head/MatMul", "Relu_7", "conv_1x"};
  EXPECT_EQ(NearestNames("conv_1", names, 3),
            (Names{"backbone/Conv_1", "backbone/Conv_12", "conv_1x"}));
  EXPECT_EQ(NearestNames("Relu_8", names, 3), Names{"Relu_7"});
  EXPECT_TRUE(NearestNames("zzzzzz", names, 3).empty());
  EXPECT_TRUE(NearestNames("a", {}, 3).empty());
}

TEST(Wrap, BreaksAtBlanksAndKeepsLongWords) {
  EXPECT_EQ(Wrap("- ", "  ", "aa bb cc dd", 8), "- aa bb\n  cc dd\n");
  EXPECT_EQ(Wrap("- ", "  ", "a-word-longer-than-that b", 8), "- a-word-longer-than-that\n  b\n");
  EXPECT_EQ(Wrap("label   ", "        ", "", 8), "label\n");
  EXPECT_EQ(Wrap("", "", "  a   b ", 80), "a b\n");
}

}  // namespace
}  // namespace aicf::tools
