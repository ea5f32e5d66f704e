#include "tools/common/flags.h"

#include <gtest/gtest.h>

namespace aicf::tools {
namespace {

TEST(Flags, IntegersAreWholeAndInRange) {
  EXPECT_EQ(*ParseInt("--n", "12", 1, 100), 12);
  EXPECT_EQ(*ParseInt("--n", "-3", -5, 5), -3);
  for (const char* bad : {"", "-1", "0", "101", "1e2", "0x10", "1,5", " 1", "1 ", "+1", "1.0",
                          "9223372036854775808", "99999999999999999999", "one"}) {
    const auto value = ParseInt("--n", bad, 1, 100);
    ASSERT_FALSE(value.ok()) << bad;
    EXPECT_EQ(value.status().code(), Code::kInvalidArgument);
    EXPECT_NE(value.status().message().find("--n"), std::string::npos);
  }
}

TEST(Flags, RealsAreFiniteAndInRange) {
  EXPECT_DOUBLE_EQ(*ParseReal("--x", "1e-4", 0, 1), 1e-4);
  EXPECT_DOUBLE_EQ(*ParseReal("--x", "0", 0, 1), 0);
  for (const char* bad : {"", "1e9999", "nan", "inf", "-0.1", "1,5", "0x1", "1e", "2", "1.0f"}) {
    EXPECT_FALSE(ParseReal("--x", bad, 0, 1).ok()) << bad;
  }
}

TEST(Flags, ShapesSplitAtTheLastColon) {
  const auto shapes = ParseShapes("--shapes", {"x:1x3x48x320,serving:0:2x2", "s:"});
  ASSERT_TRUE(shapes.ok()) << shapes.status().ToString();
  EXPECT_EQ(shapes->at("x"), Dims({1, 3, 48, 320}));
  EXPECT_EQ(shapes->at("serving:0"), Dims({2, 2}));
  EXPECT_EQ(shapes->at("s"), Dims());
}

TEST(Flags, BadShapes) {
  for (const char* bad : {"", "x", ":1x2", "x:1xx2", "x:-1", "x:1x", "x:axb", "x:1x2,", "x:1,x:2",
                          "x:9223372036854775807x2", "x:1x1x1x1x1x1x1x1x1", "x: 1"}) {
    const auto shapes = ParseShapes("--shapes", {bad});
    ASSERT_FALSE(shapes.ok()) << bad;
    EXPECT_EQ(shapes.status().code(), Code::kInvalidArgument);
  }
}

TEST(Flags, NamedFilesPreferTheLongestKnownName) {
  const auto files = ParseNamedFiles("--load-inputs", {"x:a.npy,x:0:dir:b.npy"}, {"x", "x:0"});
  ASSERT_TRUE(files.ok()) << files.status().ToString();
  EXPECT_EQ(files->at("x"), "a.npy");
  EXPECT_EQ(files->at("x:0"), "dir:b.npy");
}

TEST(Flags, BadNamedFiles) {
  for (const char* bad : {"x", "x:", "y:a.npy", "x:a.npy,x:b.npy", ":a.npy", "x:a.npy,"}) {
    EXPECT_FALSE(ParseNamedFiles("--load-inputs", {bad}, {"x"}).ok()) << bad;
  }
  const auto unknown = ParseNamedFiles("--load-inputs", {"y:a.npy"}, {"x", "z"});
  EXPECT_NE(unknown.status().message().find("'y'"), std::string::npos);
  EXPECT_NE(unknown.status().message().find("x, z"), std::string::npos);
}

TEST(Flags, NearestFindsSlipsOnly) {
  const std::vector<std::string> known = {"--shapes", "--target", "--policy"};
  EXPECT_EQ(Nearest("--shape", known), "--shapes");
  EXPECT_EQ(Nearest("--traget", known), "--target");
  EXPECT_EQ(Nearest("--completely-else", known), "");
}

struct Parsed {
  Status status = OkStatus();
  bool run = false;
  std::string value, file, text, optional;
  std::vector<std::string> list;
  bool flag = false;
};

Parsed ParseArgs(const std::vector<std::string>& args) {
  CommandLine line("tool", "test");
  Parsed p;
  line.AddValue("file", p.file, "")->required();
  line.AddValue("--warm-up", p.value, "");
  line.AddList("--shapes", p.list, "");
  line.AddText("--text", p.text, "");
  line.AddSwitch("--tune", p.optional, "[=SECONDS]  ");
  line.app.add_flag("--json", p.flag, "");
  p.status = line.Parse(args, {{"--warmUp", "--warm-up"}}, &p.run);
  return p;
}

TEST(Flags, BothValueFormsAndTrtexecSpelling) {
  for (const std::vector<std::string>& args : {std::vector<std::string>{"f", "--warm-up=5"},
                                               {"--warm-up", "5", "f"},
                                               {"f", "--warmUp=5"},
                                               {"--warmUp", "5", "f"}}) {
    const Parsed p = ParseArgs(args);
    EXPECT_TRUE(p.status.ok()) << p.status.ToString();
    EXPECT_TRUE(p.run);
    EXPECT_EQ(p.value, "5");
    EXPECT_EQ(p.file, "f");
  }
}

TEST(Flags, ListsRepeatAndTakeOneArgumentEach) {
  const Parsed p = ParseArgs({"--shapes", "a:1", "f", "--shapes=b:2"});
  ASSERT_TRUE(p.status.ok()) << p.status.ToString();
  EXPECT_EQ(p.list, (std::vector<std::string>{"a:1", "b:2"}));
  EXPECT_EQ(p.file, "f");
}

TEST(Flags, AnEmptyValueTakesNoOtherArgument) {
  for (const std::vector<std::string>& args : {std::vector<std::string>{"--text=", "--json", "f"},
                                               {"f", "--json", "--text="},
                                               {"--json", "f", "--text", ""}}) {
    const Parsed p = ParseArgs(args);
    EXPECT_TRUE(p.status.ok()) << p.status.ToString();
    EXPECT_EQ(p.text, "");
    EXPECT_EQ(p.file, "f");
    EXPECT_TRUE(p.flag);
  }
}

TEST(Flags, WhatOnlyLooksLikeAnEmptyValueStays) {
  EXPECT_EQ(ParseArgs({"--text", "--json=", "f"}).text, "--json=");
  EXPECT_EQ(ParseArgs({"--text", "--", "f"}).text, "--");
  EXPECT_EQ(ParseArgs({"--text=a=", "f"}).text, "a=");
}

TEST(Flags, EmptyValuesThatSayNothingAreRefused) {
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{"f", "--warm-up="}, "--warm-up: its value is empty"},
      {{"f", "--warmUp=", "--json"}, "--warm-up: its value is empty"},
      {{"f", "--warm-up", ""}, "--warm-up: its value is empty"},
      {{"--shapes=a:1", "--shapes=", "f"}, "--shapes: its value is empty"},
      {{"f", "--json="}, "--json: nothing follows the '='"},
      {{"--tune=", "f"}, "--tune: nothing follows the '='"},
      {{"--unknown=", "f"}, "unknown flag '--unknown'"},
  };
  for (const auto& [args, part] : cases) {
    const Status status = ParseArgs(args).status;
    EXPECT_EQ(status.code(), Code::kInvalidArgument);
    EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
  }
}

TEST(Flags, OptionalValuesFollowAnEqualsSignOnly) {
  const Parsed without = ParseArgs({"--tune", "f"});
  EXPECT_TRUE(without.status.ok()) << without.status.ToString();
  EXPECT_EQ(without.optional, "true");
  EXPECT_EQ(without.file, "f");
  EXPECT_EQ(ParseArgs({"--tune=30", "f"}).optional, "30");
}

TEST(Flags, UsageErrors) {
  const std::vector<std::vector<std::string>> cases = {
      {},
      {"f", "--unknown"},
      {"f", "--unknown=1"},
      {"f", "g"},
      {"f", "--warm-up"},
      {"f", "--warm-up=1", "--warm-up=2"},
      {"f", "--json=perhaps"},
      {"--shapes"},
      {"f", "-x"},
  };
  for (const auto& args : cases) {
    const Parsed p = ParseArgs(args);
    EXPECT_FALSE(p.run);
    EXPECT_EQ(p.status.code(), Code::kInvalidArgument);
    EXPECT_EQ(p.status.message().find('\n'), std::string::npos);
  }
  EXPECT_NE(ParseArgs({"f", "--warm-upp=1"}).status.message().find("did you mean --warm-up?"),
            std::string::npos);
}

}  // namespace
}  // namespace aicf::tools
