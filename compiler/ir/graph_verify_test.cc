// One broken graph per rule of Verify.
#include <gtest/gtest.h>

#include <functional>

#include "compiler/ir/graph.h"
#include "compiler/ir/text.h"

namespace aicf::ir {
namespace {

constexpr char kText[] =
    "graph \"g\" {\n"
    "  input %x: f32[2x3]\n"
    "  const %c: f32[3] = [1, 2, 3]\n"
    "  %a: f32[2x3] = Add(%x, %c) \"add\"\n"
    "  %y: f32[2x3] = Clip(%a) \"clip\"\n"
    "  output %y\n"
    "}\n";

Graph ValidGraph() {
  auto graph = ParseGraph(kText);
  EXPECT_TRUE(graph.ok()) << graph.status().ToString();
  return *std::move(graph);
}

struct Damage {
  const char* name;
  std::function<void(Graph&)> damage;
  const char* expected;
};

TEST(GraphVerify, AcceptsTheGraphThatTheCasesDamage) { EXPECT_TRUE(Verify(ValidGraph()).ok()); }

TEST(GraphVerify, NamesTheBrokenRule) {
  const Damage cases[] = {
      {"unnamed value", [](Graph& g) { g.values[1].name = ""; }, "has no name"},
      {"equal names", [](Graph& g) { g.values[2].name = "x"; }, "two values are named \"x\""},
      {"negative extent",
       [](Graph& g) {
         g.values[2].shape = {-2, 3};
       },
       "impossible shape [-2, 3]"},
      {"overflow",
       [](Graph& g) {
         g.values[2].shape = {INT64_MAX, 3};
       },
       "impossible shape"},
      {"constant dtype", [](Graph& g) { g.values[1].dtype = DType::kI32; }, "differ in dtype"},
      {"constant shape",
       [](Graph& g) {
         g.values[1].shape = {1, 3};
       },
       "differ in dtype or shape"},
      {"constant bytes",
       [](Graph& g) {
         g.values[1].constant = Tensor::Own(DType::kF32, {3}, std::vector<std::byte>(8));
       },
       "has 8 bytes, expected 12"},
      {"input is a constant", [](Graph& g) { g.inputs = {1}; },
       "\"c\" is defined again by a graph input"},
      {"input twice",
       [](Graph& g) {
         g.inputs = {0, 0};
       },
       "defined again"},
      {"input out of range", [](Graph& g) { g.inputs = {9}; }, "is value 9 of 4"},
      {"unknown op", [](Graph& g) { g.nodes[0].op = "Frob"; }, "Frob \"add\": graph: the op"},
      {"too few inputs", [](Graph& g) { g.nodes[0].inputs = {0}; }, "has 1 inputs"},
      {"too many inputs",
       [](Graph& g) {
         g.nodes[0].inputs = {0, 1, 1};
       },
       "has 3 inputs"},
      {"absent input",
       [](Graph& g) {
         g.nodes[0].inputs = {kNoValue, 1};
       },
       "input 0 is absent"},
      {"trailing absence",
       [](Graph& g) {
         g.nodes[1].inputs = {2, kNoValue};
       },
       "last input is absent"},
      {"input id",
       [](Graph& g) {
         g.nodes[0].inputs = {0, 77};
       },
       "is value 77"},
      {"negative id",
       [](Graph& g) {
         g.nodes[0].inputs = {0, -5};
       },
       "is value -5"},
      {"use before definition", [](Graph& g) { std::swap(g.nodes[0], g.nodes[1]); },
       "\"a\" is used before"},
      {"self-loop",
       [](Graph& g) {
         g.nodes[0].inputs = {0, 2};
       },
       "used before"},
      {"two producers", [](Graph& g) { g.nodes[1].outputs = {2}; },
       "\"a\" is defined again by a node"},
      {"no outputs", [](Graph& g) { g.nodes[1].outputs = {}; }, "has 0 outputs"},
      {"output id", [](Graph& g) { g.nodes[1].outputs = {40}; }, "a node is value 40"},
      {"graph output id", [](Graph& g) { g.outputs = {40}; }, "an output is value 40"},
      {"unproduced output", [](Graph& g) { g.nodes.pop_back(); }, "\"y\" is never produced"},
      {"repeated output",
       [](Graph& g) {
         g.outputs = {3, 3};
       },
       "is repeated"},
      {"wrong dtype", [](Graph& g) { g.values[2].dtype = DType::kF64; }, "but Add gives f32 2x3"},
      {"wrong shape",
       [](Graph& g) {
         g.values[3].shape = {3, 2};
       },
       "but Clip gives f32 2x3"},
  };
  for (const Damage& c : cases) {
    Graph graph = ValidGraph();
    c.damage(graph);
    const Status status = Verify(graph);
    ASSERT_FALSE(status.ok()) << c.name;
    EXPECT_EQ(status.code(), Code::kInternal) << c.name;
    EXPECT_NE(status.message().find(c.expected), std::string::npos)
        << c.name << ": " << status.message();
    // Nothing was put right on the way.
    EXPECT_EQ(Verify(graph).message(), status.message()) << c.name;
    EXPECT_EQ(Verify(static_cast<const Graph&>(graph)).message(), status.message()) << c.name;
  }
}

TEST(GraphVerify, FindsEqualNamesAmongMany) {
  Graph graph = ValidGraph();
  for (int i = 0; i < 5000; ++i) {
    Value v;
    v.name = StrCat("value ", i);
    graph.AddValue(v);
  }
  EXPECT_TRUE(Verify(graph).ok()) << Verify(graph).ToString();
  for (const size_t at : {size_t{0}, size_t{17}, size_t{4999}, graph.values.size() - 2}) {
    Graph broken = graph;
    Value v;
    v.name = graph.values[at].name;
    broken.AddValue(v);
    EXPECT_NE(Verify(broken).message().find(StrCat("two values are named \"", v.name, "\"")),
              std::string::npos)
        << Verify(broken).ToString();
  }
}

TEST(GraphVerify, ChecksShapesOnlyWhereTheyAreKnown) {
  Graph graph = ValidGraph();
  graph.values[0].shape = {-1, 3};
  graph.values[0].shape_known = false;
  graph.values[2].shape_known = graph.values[3].shape_known = false;
  EXPECT_TRUE(Verify(graph).ok());
}

TEST(Graph, UniqueNameSkipsTakenNames) {
  Graph graph = ValidGraph();
  EXPECT_EQ(graph.UniqueName("z"), "z");
  EXPECT_EQ(graph.UniqueName("x"), "x.1");
  Value taken;
  taken.name = "x.1";
  graph.AddValue(taken);
  EXPECT_EQ(graph.UniqueName("x"), "x.2");
}

TEST(Graph, ProducersAndUsers) {
  const Graph graph = ValidGraph();
  EXPECT_EQ(ProducerOf(graph), (std::vector<int>{-1, -1, 0, 1}));
  const auto users = UsersOf(graph);
  EXPECT_EQ(users[0], std::vector<int>{0});
  EXPECT_EQ(users[2], std::vector<int>{1});
  EXPECT_TRUE(users[3].empty());
}

}  // namespace
}  // namespace aicf::ir
