// Which extents may be padded, from where on, and what is said of those that may not.
#include "compiler/buckets/padding.h"

#include <gtest/gtest.h>

#include "compiler/buckets/testing.h"

namespace aicf {
namespace {

struct Proven {
  std::vector<schema::Padding> paddings;
  std::vector<Decision> decisions;
};

Proven Prove(const ir::Graph& model, const std::vector<ShapeMap>& shapes, size_t entry = 0) {
  std::vector<Bucket> entries;
  for (const ShapeMap& s : shapes) entries.push_back({StrCat("b", entries.size()), s});
  DecisionLog log;
  PassContext context;
  context.device = *abi::FindDevice("cpu:baseline");
  context.decisions = &log;
  const auto inputs = InputShapes(model, entries);
  EXPECT_TRUE(inputs.ok()) << inputs.status().ToString();
  if (!inputs.ok()) return {};
  auto paddings = ProvePaddings(model, *inputs, entry, context);
  EXPECT_TRUE(paddings.ok()) << paddings.status().ToString();
  return {paddings.ok() ? *paddings : std::vector<schema::Padding>{}, log.decisions()};
}

constexpr char kRows[] =
    "input %x: f32[?x4]\nconst %w: f32[4x2] = [1, 2, 3, 4, 5, 6, 7, 8]\n"
    "%m: f32 = MatMul(%x, %w) \"product\"\n%y: f32 = Softmax(%m) {axis=-1} \"soft\"\n"
    "const %s: i64[1] = [-1]\n%z: f32 = Reshape(%m, %s) \"flat\"\noutput %y\noutput %z";

TEST(Padding, ReachesDownToOneWithTheOutputsThatShrink) {
  const Proven p = Prove(testing::OpenModel(kRows), {{{"x", {6, 4}}}});
  const std::vector<schema::Padding> want = {{1, {{0, 0}}, {{0, 0, 1}, {1, 0, 2}}}};
  EXPECT_EQ(p.paddings, want);
  ASSERT_EQ(p.decisions.size(), 1u);
  EXPECT_EQ(p.decisions[0].kind, DecisionKind::kBucket);
  EXPECT_EQ(ToString(p.decisions[0].subject), "axis 0 of \"x\", 6 positions");
  EXPECT_EQ(p.decisions[0].choice, "padding, for 1 position or more");
}

TEST(Padding, RefusalsNameTheOp) {
  const Proven p = Prove(testing::OpenModel("input %x: f32[?x4]\n"
                                            "%y: f32 = Softmax(%x) {axis=0} \"mixer\"\noutput %y"),
                         {{{"x", {6, 4}}}});
  EXPECT_TRUE(p.paddings.empty());
  ASSERT_EQ(p.decisions.size(), 1u);
  EXPECT_EQ(p.decisions[0].choice, "exact shapes only");
  ASSERT_EQ(p.decisions[0].alternatives.size(), 1u);
  EXPECT_NE(p.decisions[0].alternatives[0].refusal.find("Softmax node \"mixer\""),
            std::string::npos);
}

// One of the extents is known to the model: a different one contradicts it, so it is not open.
TEST(Padding, WhatTheModelFixesIsNotOpen) {
  const Proven p =
      Prove(testing::OpenModel("input %x: f32[6x4]\n%y: f32 = Relu(%x) \"n\"\noutput %y"),
            {{{"x", {6, 4}}}});
  EXPECT_TRUE(p.paddings.empty());
  EXPECT_TRUE(p.decisions.empty());
}

// The graph changes where fewer than 3 rows are left, so the record ends there.
TEST(Padding, EndsWhereTheModelChanges) {
  const std::string head =
      "input %x: f32[?x4]\nconst %from: i64[1] = [0]\nconst %to: i64[1] = [3]\n"
      "%h: f32 = Slice(%x, %from, %to, %from) \"head\"\nconst %a: i64[1] = [0]\n"
      "%t: f32 = ReduceSum(%h, %a) \"top\"\n%y: f32 = Add(%x, %t) \"n\"\noutput %y";
  const Proven p = Prove(testing::OpenModel(head), {{{"x", {6, 4}}}});
  ASSERT_EQ(p.paddings.size(), 1u);
  EXPECT_EQ(p.paddings[0].min, 3u);
  ASSERT_EQ(p.decisions[0].alternatives.size(), 1u);
  EXPECT_EQ(p.decisions[0].alternatives[0].choice, "fewer positions");
  EXPECT_NE(p.decisions[0].alternatives[0].refusal.find("ReduceSum"), std::string::npos);
}

constexpr char kTwo[] =
    "input %x: f32[?x?]\ninput %z: f32[?x?]\n%y: f32 = Add(%x, %z) \"n\"\noutput %y";

TEST(Padding, ASymbolIsOneExtent) {
  const ir::Graph model = testing::OpenModel(
      kTwo, {{{"x", 0}, "rows"}, {{"z", 0}, "rows"}, {{"x", 1}, "columns"}, {{"z", 1}, "columns"}});
  const Proven p = Prove(model, {{{"x", {4, 3}}, {"z", {4, 3}}}});
  const std::vector<schema::Padding> want = {{1, {{0, 0}, {1, 0}}, {{0, 0, 1}}},
                                             {1, {{0, 1}, {1, 1}}, {{0, 1, 1}}}};
  EXPECT_EQ(p.paddings, want);
  EXPECT_EQ(ToString(p.decisions[0].subject), "extent \"rows\", 4 positions");
}

TEST(Padding, UnnamedAxesBelongTogetherWhereEveryBucketSaysSo) {
  const ir::Graph model = testing::OpenModel(kTwo);
  const ShapeMap square{{"x", {4, 4}}, {"z", {4, 4}}}, wide{{"x", {4, 8}}, {"z", {4, 8}}};
  // Alone, all four look like one extent; the second bucket tells rows from columns.
  EXPECT_EQ(Prove(model, {square}).paddings.size(), 1u);
  EXPECT_EQ(Prove(model, {square, wide}).paddings.size(), 2u);
  EXPECT_EQ(Prove(model, {square, wide}, 1).paddings.size(), 2u);
}

// Rows and positions have as many by chance; only the rows may be padded.
TEST(Padding, EqualExtentsMayBeChance) {
  const ir::Graph model =
      testing::OpenModel("input %x: f32[?x?]\n%y: f32 = Softmax(%x) {axis=-1} \"n\"\noutput %y");
  const Proven p = Prove(model, {{{"x", {4, 4}}}});
  ASSERT_EQ(p.decisions.size(), 3u);
  EXPECT_EQ(ToString(p.decisions[0].subject), "axis 0 of \"x\" and axis 1 of \"x\", 4 positions");
  const std::vector<schema::Padding> want = {{1, {{0, 0}}, {{0, 0, 1}}}};
  EXPECT_EQ(p.paddings, want);
}

// Rows of a flattened product may go, the columns between them may not.
TEST(Padding, AnExtentInsideAnotherIsExact) {
  const ir::Graph model = testing::OpenModel(
      "input %x: f32[?x4]\ninput %z: f32[?x4]\nconst %t: i64[2] = [-1, 1]\n"
      "const %axis: i64[1] = [1]\n%a: f32 = ReduceSum(%x, %axis) \"a\"\n"
      "%b: f32 = ReduceSum(%z, %axis) \"b\"\n%c: f32 = Transpose(%b) \"c\"\n"
      "%p: f32 = Mul(%a, %c) \"p\"\nconst %f: i64[1] = [-1]\n%y: f32 = Reshape(%p, %f) "
      "\"n\"\noutput %y",
      {{{"x", 0}, "outer"}, {{"z", 0}, "inner"}});
  const Proven p = Prove(model, {{{"x", {4, 4}}, {"z", {3, 4}}}});
  ASSERT_EQ(p.paddings.size(), 1u);
  EXPECT_EQ(p.paddings[0].outputs[0].factor, 3u);
  EXPECT_EQ(p.decisions[1].choice, "exact shapes only");
}

TEST(Padding, HowFarIsLookedFollowsFromTheModelsSize) {
  const ir::Graph model =
      testing::OpenModel("input %x: f32[?x4]\n%y: f32 = Relu(%x) \"n\"\noutput %y");
  const Proven p = Prove(model, {{{"x", {100000, 4}}}});
  ASSERT_EQ(p.paddings.size(), 1u);
  EXPECT_EQ(p.paddings[0].min, 100000u - 512);
  EXPECT_EQ(p.decisions[0].alternatives[0].refusal, "padding: not looked at");
  EXPECT_TRUE(Prove(model, {{{"x", {1, 4}}}}).paddings.empty());
}

TEST(Buckets, NamesAndShapesAreChecked) {
  CompileOptions options;
  EXPECT_EQ(EntryPointsOf(options.shapes, options.buckets)->size(), 1u);
  EXPECT_EQ(EntryPointsOf(options.shapes, options.buckets)->front().name, "main");
  options.buckets = {{"a", {{"x", {2, 4}}}}, {"b", {{"x", {3, 4}}}}};
  EXPECT_EQ(EntryPointsOf(options.shapes, options.buckets)->front().name, "a");
  options.shapes = {{"x", {1, 4}}};
  EXPECT_EQ(EntryPointsOf(options.shapes, options.buckets)->size(), 3u);
  options.buckets[1].name = "a";
  EXPECT_EQ(EntryPointsOf(options.shapes, options.buckets).status().code(), Code::kInvalidArgument);
  options.buckets[1].name = "main";
  EXPECT_NE(
      EntryPointsOf(options.shapes, options.buckets).status().message().find("without a name"),
      std::string::npos);
  options.buckets[1].name = "";
  EXPECT_EQ(EntryPointsOf(options.shapes, options.buckets).status().code(), Code::kInvalidArgument);

  const ir::Graph model = testing::OpenModel(kRows);
  const auto refusal = [&](const ShapeMap& second) {
    const auto shapes = InputShapes(model, {{"a", {{"x", {2, 4}}}}, {"b", second}});
    EXPECT_FALSE(shapes.ok());
    return shapes.status();
  };
  EXPECT_EQ(refusal({{"x", {2, 4}}}).message(), "bucket 'b' has the shapes of 'a'");
  EXPECT_NE(refusal({{"u", {2, 4}}}).message().find("bucket 'b'"), std::string::npos);
  EXPECT_EQ(refusal({{"x", {2, 5}}}).code(), Code::kInvalidArgument);
  EXPECT_EQ(refusal({}).code(), Code::kUnsupported);
}

}  // namespace
}  // namespace aicf
