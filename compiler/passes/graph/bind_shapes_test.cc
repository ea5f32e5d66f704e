#include <gtest/gtest.h>

#include "compiler/ir/text.h"
#include "compiler/passes/graph/passes.h"

namespace aicf {
namespace {

using Shapes = std::map<std::string, Dims, std::less<>>;

// Inputs x [N, 3], y [N, M], z of any rank, f [2].
ir::Graph SymbolicModel() {
  auto graph = ir::ParseGraph(
      "graph \"g\" { input %x: f32[?x3] input %y: f32[?x?] input %z: f32 input %f: f32[2] output "
      "%x }");
  EXPECT_TRUE(graph.ok()) << graph.status().ToString();
  graph->values[0].symbols = {"N", ""};
  graph->values[1].symbols = {"N", "M"};
  return *std::move(graph);
}

TEST(BindShapes, GivesEveryInputItsShape) {
  ir::Graph graph = SymbolicModel();
  const Status status = BindShapes(graph, Shapes{{"y", {4, 5}}, {"z", {7}}});
  ASSERT_TRUE(status.ok()) << status.ToString();
  // The symbol N came in through y.
  EXPECT_EQ(graph.values[0].shape, (Dims{4, 3}));
  EXPECT_EQ(graph.values[1].shape, (Dims{4, 5}));
  EXPECT_EQ(graph.values[2].shape, (Dims{7}));
  for (ir::ValueId v : graph.inputs) EXPECT_TRUE(graph.values[v].shape_known);
}

TEST(BindShapes, AcceptsScalarsAndEmptyTensors) {
  ir::Graph graph = SymbolicModel();
  ASSERT_TRUE(BindShapes(graph, Shapes{{"y", {0, 5}}, {"z", {}}, {"f", {2}}}).ok());
  EXPECT_EQ(graph.values[0].shape, (Dims{0, 3}));
  EXPECT_TRUE(graph.values[2].shape_known);
}

TEST(BindShapes, NamesWhatIsWrong) {
  const struct {
    Shapes shapes;
    Code code;
    const char* expected;
  } cases[] = {
      {{{"w", {1}}},
       Code::kInvalidArgument,
       "no input \"w\"; its inputs are \"x\", \"y\", \"z\", \"f\""},
      {{{"f", {3}}}, Code::kInvalidArgument, "input \"f\" is [2] in the model, found shape 3"},
      {{{"x", {4, 2}}},
       Code::kInvalidArgument,
       "input \"x\" is [\"N\", 3] in the model, found shape 4x2"},
      {{{"x", {4}}}, Code::kInvalidArgument, "found shape 4"},
      {{{"f", {}}}, Code::kInvalidArgument, "found shape scalar"},
      {{{"x", {4, 3}}, {"y", {5, 1}}},
       Code::kInvalidArgument,
       "extent \"N\" is 4 and, for input \"y\", 5"},
      {{{"x", {INT64_MAX, 3}}}, Code::kInvalidArgument, "impossible shape"},
      {{{"x", {-1, 3}}}, Code::kInvalidArgument, "impossible shape"},
      {{{"x", {4, 3}}},
       Code::kUnsupported,
       "input \"y\" is [4, \"M\"] in the model; give its shape with --shapes="},
      {{{"y", {4, 5}}}, Code::kUnsupported, "input \"z\" is of any rank"},
      {{}, Code::kUnsupported, "input \"x\" is [\"N\", 3]"},
  };
  for (const auto& c : cases) {
    ir::Graph graph = SymbolicModel();
    const Status status = BindShapes(graph, c.shapes);
    ASSERT_FALSE(status.ok()) << c.expected;
    EXPECT_EQ(status.code(), c.code) << status.ToString();
    EXPECT_NE(status.message().find(c.expected), std::string::npos) << status.message();
  }
}

TEST(BindShapes, ASymbolMayMakeAShapeTooLarge) {
  ir::Graph graph = SymbolicModel();
  const Status status = BindShapes(graph, Shapes{{"y", {int64_t{1} << 62, 0}}, {"z", {}}});
  EXPECT_EQ(status.code(), Code::kInvalidArgument) << status.ToString();
  EXPECT_NE(status.message().find("input \"x\" has the impossible shape"), std::string::npos);
}

}  // namespace
}  // namespace aicf
