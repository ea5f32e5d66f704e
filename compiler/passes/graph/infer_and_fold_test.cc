// Shapes that a model computes, and the limits of folding.
#include <gtest/gtest.h>

#include "compiler/ir/legacy.h"
#include "compiler/ir/text.h"
#include "compiler/passes/evaluate.h"
#include "compiler/passes/graph/passes.h"

namespace aicf {
namespace {

struct Inferred {
  Status status;
  std::string text;
  std::vector<Decision> decisions;
};

Inferred Infer(const std::string& body) {
  auto graph = ir::ParseGraph("graph \"g\" {\n" + body + "\n}");
  if (!graph.ok()) return {graph.status(), "", {}};
  DecisionLog log;
  PassContext context;
  context.decisions = &log;
  Inferred out;
  out.status = InferAndFold(*graph, context);
  if (out.status.ok()) out.status = Verify(*graph);
  out.text = ToString(*graph);
  out.decisions = log.decisions();
  return out;
}

TEST(InferAndFold, FollowsShapesThroughArithmetic) {
  // The usual exporter's way to flatten all but the first axis.
  const Inferred r = Infer(R"(
    input %x: f32[2x3x4]
    const %first: i64[1] = [0]
    const %one: i64[1] = [1]
    const %rest: i64[1] = [-1]
    %s: i64 = Shape(%x) "shape"
    %b: i64 = Slice(%s, %first, %one) "slice"
    %c: i32 = Cast(%b) {to="i32"} "cast"
    %d: i64 = Cast(%c) {to="i64"} "back"
    %t: i64 = Concat(%d, %rest) {axis=0} "concat"
    %y: f32 = Reshape(%x, %t) "reshape"
    output %y)");
  ASSERT_TRUE(r.status.ok()) << r.status.ToString();
  EXPECT_NE(r.text.find("const %t: i64[2] = [2, -1]"), std::string::npos) << r.text;
  EXPECT_NE(r.text.find("%y: f32[2x12] = Reshape(%x, %t)"), std::string::npos) << r.text;
  EXPECT_EQ(r.text.find("Slice"), std::string::npos);
  ASSERT_EQ(r.decisions.size(), 5u);
  EXPECT_EQ(ToString(r.decisions[0].subject), "Shape \"shape\"");
  EXPECT_EQ(r.decisions[0].choice, "constant");
}

TEST(InferAndFold, ShapeHonoursStartAndEnd) {
  const Inferred r = Infer(R"(
    input %x: f32[2x3x4x5]
    %a: i64 = Shape(%x) {start=1, end=-1} "middle"
    %b: i64 = Shape(%x) {start=-99} "all"
    %c: i64 = Shape(%x) {start=3, end=1} "none"
    output %a output %b output %c)");
  ASSERT_TRUE(r.status.ok()) << r.status.ToString();
  EXPECT_NE(r.text.find("const %a: i64[2] = [3, 4]"), std::string::npos) << r.text;
  EXPECT_NE(r.text.find("const %b: i64[4] = [2, 3, 4, 5]"), std::string::npos) << r.text;
  EXPECT_NE(r.text.find("const %c: i64[0] = []"), std::string::npos) << r.text;
}

TEST(InferAndFold, FoldsConstantsOfShapesAndRanges) {
  const Inferred r = Infer(R"(
    const %n: i64[2] = [1, 3]
    const %a: i32[] = [9] const %b: i32[] = [0] const %c: i32[] = [-4]
    %z: f32 = ConstantOfShape(%n) {value=f16[1] [0.5]} "fill"
    %r: i32 = Range(%a, %b, %c) "range"
    output %z output %r)");
  ASSERT_TRUE(r.status.ok()) << r.status.ToString();
  EXPECT_NE(r.text.find("const %z: f16[1x3] = [0x1p-1, 0x1p-1, 0x1p-1]"), std::string::npos)
      << r.text;
  EXPECT_NE(r.text.find("const %r: i32[3] = [9, 5, 1]"), std::string::npos) << r.text;
}

TEST(InferAndFold, ReshapedWeightsStayWhereTheyAre) {
  auto graph = ir::ParseGraph(R"(graph "g" {
    const %w: f32[2x2] = [1, 2, 3, 4] const %s: i64[1] = [-1]
    %y: f32 = Reshape(%w, %s) "reshape"
    output %y })");
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  DecisionLog log;
  PassContext context;
  context.decisions = &log;
  ASSERT_TRUE(InferAndFold(*graph, context).ok());
  EXPECT_EQ(graph->values[2].constant.bytes().data(), graph->values[0].constant.bytes().data());
}

TEST(InferAndFold, A22BombsStayNodes) {
  const Inferred r = Infer(R"(
    const %n: i64[1] = [1099511627776]
    const %v: f32[1] = [1]
    %a: f32 = ConstantOfShape(%n) "fill"
    %b: f32 = Expand(%v, %n) "expand"
    %c: f32 = Tile(%v, %n) "tile"
    output %a output %b output %c)");
  ASSERT_TRUE(r.status.ok()) << r.status.ToString();
  ASSERT_EQ(r.decisions.size(), 3u);
  for (const Decision& d : r.decisions) {
    EXPECT_EQ(d.choice, "kept") << ToString(d.subject);
    ASSERT_EQ(d.alternatives.size(), 1u);
    EXPECT_NE(d.alternatives[0].refusal.find("bytes is above"), std::string::npos);
  }
}

TEST(InferAndFold, NamesTheNodeThatIsWrong) {
  const Inferred bad =
      Infer("input %x: f32[2] input %z: f32[3] %y: f32 = Add(%x, %z) \"sum\\n\" output %y");
  EXPECT_EQ(bad.status.code(), Code::kBadModel);
  EXPECT_EQ(bad.status.message(), "Add node \"sum\\n\": shapes 2 and 3 do not broadcast");
  const Inferred dynamic =
      Infer("input %x: f32[2] input %s: i64[1] %y: f32 = Reshape(%x, %s) \"r\" output %y");
  EXPECT_EQ(dynamic.status.code(), Code::kUnsupported);
}

TEST(InferAndFold, NoMarkOfAnOlderOpsetIsLeft) {
  for (std::string_view mark :
       {ir::kLegacyAxis, ir::kLegacyFlatten, ir::kLegacyChannelSlope, ir::kLegacyNearest}) {
    const std::string op = mark == ir::kLegacyAxis           ? "Add(%x, %s)"
                           : mark == ir::kLegacyFlatten      ? "Softmax(%x)"
                           : mark == ir::kLegacyChannelSlope ? "PRelu(%x, %s)"
                                                             : "Resize(%x, _, %f)";
    const Inferred r = Infer(
        StrCat("input %x: f32[2x3x4] input %s: f32[3] const %f: f32[3] = [1, 2, 2] %y: f32 = ", op,
               " {", mark, "=1} output %y"));
    ASSERT_TRUE(r.status.ok()) << mark << r.status.ToString();
    EXPECT_EQ(r.text.find("legacy"), std::string::npos) << r.text;
  }
}

ir::Graph TwoByTwoProduct() {
  auto graph = ir::ParseGraph(R"(graph "g" {
    const %a: f32[2x2] = [1, 2, 3, 4]
    %y: f32[2x2] = MatMul(%a, %a) "product"
    output %y })");
  EXPECT_TRUE(graph.ok());
  return *std::move(graph);
}

TEST(Folder, RespectsEveryLimit) {
  const ir::Graph graph = TwoByTwoProduct();
  DecisionLog log;
  PassContext context;
  context.decisions = &log;
  std::string why;
  const auto evaluate = [&](FoldLimits limits, int times, int64_t bytes = 1000) {
    context.budgets.Set(Budget::kFoldedBytes, bytes);
    Folder folder(context, limits);
    auto result = folder.Evaluate(graph, graph.nodes[0], &why);
    while (--times > 0) result = folder.Evaluate(graph, graph.nodes[0], &why);
    EXPECT_TRUE(result.ok()) << result.status().ToString();
    return result.ok() && result->has_value();
  };
  EXPECT_TRUE(evaluate({}, 1));
  EXPECT_TRUE(evaluate({}, 2, 32));
  EXPECT_FALSE(evaluate({}, 3, 32));
  EXPECT_NE(why.find("constants of 32 bytes"), std::string::npos) << why;
  // Operands of 32 bytes allow as many.
  EXPECT_TRUE(evaluate({.output_bytes = 0}, 1));
  // 16 of the products, and every element that is read or written.
  EXPECT_TRUE(evaluate({.operations = 28}, 1));
  EXPECT_FALSE(evaluate({.operations = 27}, 1));
  EXPECT_NE(why.find("it takes 28 operations"), std::string::npos) << why;
  context.budgets.Set(Budget::kFoldedOperations, 28 * 2);
  EXPECT_TRUE(evaluate({}, 2));
  EXPECT_FALSE(evaluate({}, 3));
  EXPECT_TRUE(log.decisions().empty());
}

TEST(Folder, ComputesWhatTheNodeMeans) {
  const ir::Graph graph = TwoByTwoProduct();
  DecisionLog log;
  PassContext context;
  context.decisions = &log;
  std::string why;
  Folder folder(context);
  const auto result = folder.Evaluate(graph, graph.nodes[0], &why);
  ASSERT_TRUE(result.ok() && *result) << why;
  const ir::Tensor& y = (**result)[0];
  EXPECT_EQ(y.at<float>(0), 7);
  EXPECT_EQ(y.at<float>(1), 10);
  EXPECT_EQ(y.at<float>(2), 15);
  EXPECT_EQ(y.at<float>(3), 22);
}

}  // namespace
}  // namespace aicf
