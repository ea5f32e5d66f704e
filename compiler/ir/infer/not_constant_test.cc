#include "compiler/ir/infer/not_constant.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/ir/infer/testing.h"

namespace aicf::ir {
namespace {

/// The sentence about the value of this name, as "sizes".
std::string Sentence(std::string_view name) {
  const auto graph = ParseGraph(R"(graph "g" {
    input %h: i64[1]
    input %w: i64[]
    input %x: f32[1x3x4x4]
    input %a: i64[1]
    input %b: i64[1]
    const %one: i64[1] = [1]
    %row: i64[1] = Reshape(%w, %one) "row"
    %both: i64[2] = Concat(%h, %row) {axis=0} "both"
    %all: i64[4] = Concat(%a, %b, %both) {axis=0} "all"
    %codes: i64[1x3x4x4] = Cast(%x) {to="i64"} "codes"
  })");
  if (!graph.ok()) return graph.status().message();
  const auto found = std::ranges::find(graph->values, name, &Value::name);
  const Status status =
      NotConstant(*graph, static_cast<ValueId>(found - graph->values.begin()), "sizes");
  EXPECT_EQ(status.code(), Code::kUnsupported);
  return status.message();
}

TEST(NotConstant, SaysWhichInputsToBind) {
  EXPECT_EQ(Sentence("h"),
            "sizes (\"h\") is an input, whose value has to be known while compiling; bind it with "
            "--bind=h:FILE.npy");
  EXPECT_EQ(Sentence("both"),
            "sizes (\"both\") is computed from inputs, whose values have to be known while "
            "compiling; bind them with --bind=h:FILE.npy and --bind=w:FILE.npy");
  EXPECT_TRUE(Sentence("all").ends_with("--bind=w:FILE.npy and --bind=a:FILE.npy and 1 more"))
      << Sentence("all");
}

TEST(NotConstant, DataIsNotToBeBound) {
  EXPECT_EQ(Sentence("codes"),
            "sizes (\"codes\") is computed from the model's inputs; only constants are supported "
            "there");
}

TEST(NotConstant, ShapeRulesSayIt) {
  const std::string sizes =
      testing::Infer("input %x: f32[2x2] input %z: i64[2]", "Resize(%x, _, _, %z)");
  EXPECT_TRUE(sizes.ends_with("--bind=z:FILE.npy")) << sizes;
  const std::string scales =
      testing::Infer("input %x: f32[2x2] input %s: f32[2]", "Resize(%x, _, %s)");
  EXPECT_TRUE(scales.ends_with("--bind=s:FILE.npy")) << scales;
  const std::string range = testing::Infer(
      "input %n: i64[] const %a: i64[] = [0] const %d: i64[] = [1]", "Range(%a, %n, %d)");
  EXPECT_TRUE(range.ends_with("--bind=n:FILE.npy")) << range;
}

}  // namespace
}  // namespace aicf::ir
