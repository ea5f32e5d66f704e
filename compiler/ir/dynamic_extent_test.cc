// The rules by which a counted value passes through a node.
#include "compiler/ir/dynamic_extent.h"

#include <gtest/gtest.h>

#include "compiler/ir/infer/infer.h"
#include "compiler/ir/text.h"

namespace aicf::ir {
namespace {

constexpr std::string_view kHead =
    "graph \"g\" {\n"
    "input %x: f32[6x5x4]\ninput %n: i64[1]\ninput %m: i64[1]\ninput %table: f32[9x7]\n"
    "input %index: i64[6x5x4]\ninput %row: f32[4]\ninput %full: f32[6x5x4]\n"
    "input %square: f32[4x3]\ninput %flags: bool[6x1x1]\ninput %map: f32[2x3x8x8]\n"
    "input %heads: f32[6x2x5x4]\ninput %rows: f32[1x2x6x4]\ninput %keys: f32[1x2x3x4]\n"
    "input %boxes: f32[6x4]\ninput %batch: i64[6]\n"
    "const %zero: i64[1] = [0]\nconst %one: i64[1] = [1]\nconst %two: i64[1] = [2]\n"
    "const %three: i64[1] = [3]\nconst %far: i64[1] = [100]\nconst %none: i64[] = [0]\n"
    "const %split: i64[2] = [1, 3]\n"
    "const %flat: i64[2] = [6, 20]\nconst %pairs: i64[2] = [30, 4]\n"
    "const %wide: i64[4] = [3, 6, 5, 4]\n"
    "%c: f32[6x5x4] = aicf.Counted(%x, %n) {axis=0} \"c\"\n"
    "%ci: i64[6x5x4] = aicf.Counted(%index, %n) {axis=0} \"ci\"\n"
    "%cm: f32[6x5x4] = aicf.Counted(%x, %m) {axis=0} \"cm\"\n"
    "%last: f32[6x5x4] = aicf.Counted(%x, %n) {axis=2} \"last\"\n"
    "%cb: f32[6x4] = aicf.Counted(%boxes, %n) {axis=0} \"cb\"\n"
    "%cq: f32[6x2x5x4] = aicf.Counted(%heads, %n) {axis=0} \"cq\"\n"
    "%cr: f32[1x2x6x4] = aicf.Counted(%rows, %n) {axis=2} \"cr\"\n"
    "%cz: i64[6] = aicf.Counted(%batch, %n) {axis=0} \"cz\"\n";

/// The counted axis of output %y of the node; -1: not counted; -2: refused.
int AxisAfter(const std::string& node) {
  Result<Graph> graph = ParseGraph(StrCat(kHead, node, "\n}"));
  EXPECT_TRUE(graph.ok()) << graph.status().ToString() << "\n" << node;
  if (!graph.ok()) return -3;
  for (size_t i = 0; i < graph->nodes.size(); ++i) {
    const Status inferred = InferNode(*graph, graph->nodes[i]);
    EXPECT_TRUE(inferred.ok()) << inferred.ToString() << "\n" << node;
    if (!inferred.ok()) return -3;
  }
  const Result<DynamicExtents> extents = FindDynamicExtents(*graph);
  if (!extents.ok()) {
    EXPECT_EQ(extents.status().code(), Code::kUnsupported);
    return -2;
  }
  const DynamicExtent* extent = extents->Of(graph->nodes.back().outputs[0]);
  if (extent == nullptr) return -1;
  EXPECT_EQ(graph->values[extent->count].name, "n");
  return extent->axis;
}

struct RuleCase {
  std::string node;
  int axis;
};

class Rules : public ::testing::TestWithParam<RuleCase> {};

TEST_P(Rules, GiveTheAxisOrRefuse) {
  EXPECT_EQ(AxisAfter(GetParam().node), GetParam().axis) << GetParam().node;
}

INSTANTIATE_TEST_SUITE_P(
    DynamicExtent, Rules,
    ::testing::Values(
        RuleCase{"%y: f32 = Relu(%full) \"y\"", -1}, RuleCase{"%y: f32 = Relu(%c) \"y\"", 0},
        RuleCase{"%y: f32 = Add(%c, %row) \"y\"", 0}, RuleCase{"%y: f32 = Add(%row, %c) \"y\"", 0},
        RuleCase{"%y: f32 = Add(%c, %c) \"y\"", 0}, RuleCase{"%y: f32 = Add(%c, %full) \"y\"", -2},
        RuleCase{"%y: f32 = Add(%last, %row) \"y\"", -2},
        RuleCase{"%y: f32 = Add(%c, %cm) \"y\"", -2},
        RuleCase{"%y: f32 = Add(%c, %last) \"y\"", -2},
        RuleCase{"%y: f32 = Where(%flags, %c, %row) \"y\"", -2},
        RuleCase{"%y: f64 = Cast(%c) {to=\"f64\"} \"y\"", 0},
        RuleCase{"%y: f32 = Identity(%last) \"y\"", 2},
        RuleCase{"%y: f32 = Transpose(%c) {perm=[2, 0, 1]} \"y\"", 1},
        RuleCase{"%y: f32 = Unsqueeze(%last, %zero) \"y\"", 3},
        RuleCase{"%y: f32 = Unsqueeze(%c, %one) \"y\"", 0},
        RuleCase{"%y: f32 = Reshape(%c, %flat) \"y\"", 0},
        RuleCase{"%y: f32 = Reshape(%last, %pairs) \"y\"", 1},
        RuleCase{"%y: f32 = Reshape(%c, %pairs) \"y\"", -2},
        RuleCase{"%y: f32 = Expand(%c, %wide) \"y\"", 1},
        RuleCase{"%y: f32 = Gather(%table, %ci) {axis=1} \"y\"", 1},
        RuleCase{"%y: f32 = Gather(%c, %one) {axis=1} \"y\"", 0},
        RuleCase{"%y: f32 = Gather(%last, %none) {axis=0} \"y\"", 1},
        RuleCase{"%y: f32 = Gather(%c, %one) {axis=0} \"y\"", -2},
        RuleCase{"%y: f32 = GatherElements(%full, %ci) {axis=2} \"y\"", 0},
        RuleCase{"%y: f32 = GatherElements(%c, %index) {axis=2} \"y\"", -2},
        RuleCase{"%y: f32 = Slice(%c, %one, %three, %two) \"y\"", 0},
        RuleCase{"%y: f32 = Slice(%c, %zero, %far, %zero) \"y\"", 0},
        RuleCase{"%y: f32 = Slice(%c, %one, %far, %zero) \"y\"", -2},
        RuleCase{"%y: f32 = Slice(%c, %zero, %three, %zero) \"y\"", -2},
        RuleCase{"%y: f32 = Concat(%c, %c) {axis=1} \"y\"", 0},
        RuleCase{"%y: f32 = Concat(%c, %full) {axis=1} \"y\"", -2},
        RuleCase{"%y: f32 = Concat(%c, %c) {axis=0} \"y\"", -2},
        RuleCase{"(%y: f32, %z: f32) = Split(%c, %split) {axis=2} \"y\"", 0},
        RuleCase{"%y: f32 = ReduceMax(%c, %two) {keepdims=0} \"y\"", 0},
        RuleCase{"%y: f32 = ReduceMax(%last, %zero) {keepdims=0} \"y\"", 1},
        RuleCase{"%y: f32 = ReduceMax(%last, %two) {keepdims=0} \"y\"", -2},
        RuleCase{"%y: f32 = ReduceSum(%c) {keepdims=0} \"y\"", -2},
        RuleCase{"%y: i64 = ArgMax(%c) {axis=2, keepdims=0} \"y\"", 0},
        RuleCase{"%y: i64 = ArgMax(%c) {axis=0, keepdims=0} \"y\"", -2},
        RuleCase{"%y: f32 = Softmax(%c) \"y\"", 0}, RuleCase{"%y: f32 = Softmax(%last) \"y\"", -2},
        RuleCase{"%y: f32 = CumSum(%c, %none) \"y\"", 0},
        RuleCase{"%y: f32 = CumSum(%c, %none) {reverse=1} \"y\"", -2},
        RuleCase{"%y: f32 = CumSum(%c, %two) {reverse=1} \"y\"", 0},
        RuleCase{"%y: f32 = MatMul(%c, %square) \"y\"", 0},
        RuleCase{"%y: f32 = MatMul(%last, %square) \"y\"", -2},
        RuleCase{"%y: f32 = aicf.Attention(%cq, %cq, %cq) \"y\"", 0},
        RuleCase{"%y: f32 = aicf.Attention(%cq, %heads, %heads) \"y\"", -2},
        RuleCase{"%y: f32 = aicf.Attention(%cr, %keys, %keys) \"y\"", 2},
        RuleCase{"%y: f32 = aicf.Attention(%keys, %cr, %cr) \"y\"", -2},
        RuleCase{"%y: f32 = RoiAlign(%map, %cb, %cz) \"y\"", 0},
        RuleCase{"%y: f32 = RoiAlign(%map, %cb, %batch) \"y\"", -2},
        RuleCase{"%y: f32 = ScatterElements(%full, %ci, %c) {axis=2} \"y\"", -2},
        RuleCase{"%y: f32 = aicf.Counted(%c, %n) {axis=0} \"y\"", -2}),
    [](const ::testing::TestParamInfo<RuleCase>& c) { return std::to_string(c.index); });

}  // namespace
}  // namespace aicf::ir
