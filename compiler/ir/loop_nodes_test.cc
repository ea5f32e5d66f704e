// Loops in a graph and in steps: what holds together, and every way to break it.
#include "compiler/ir/loop_nodes.h"

#include <gtest/gtest.h>

#include <functional>

#include "compiler/ir/lowered.h"
#include "compiler/ir/lowered_loops.h"
#include "compiler/ir/text.h"
#include "compiler/passes/graph/passes.h"
#include "compiler/passes/lower/lower.h"

namespace aicf::ir {
namespace {

// while (go) { v = -(v + w); go = !go }; y = t, and the same sum after the loop.
constexpr char kGraph[] =
    "graph \"g\" {\n"
    "  input %go0: bool[]\n"
    "  input %x: f32[3]\n"
    "  input %w: f32[3]\n"
    "  (%go: bool[], %v: f32[3]) = aicf.LoopBegin(%go0, %x) {id=4} \"loop\"\n"
    "  %sum: f32[3] = Add(%v, %w) \"sum\"\n"
    "  %next: f32[3] = Neg(%sum) \"next\"\n"
    "  %inside: f32[3] = Abs(%w) \"inside\"\n"
    "  %both: f32[3] = Add(%next, %inside) \"both\"\n"
    "  %more: bool[] = Not(%go) \"more\"\n"
    "  (%last: bool[], %t: f32[3]) = aicf.LoopEnd(%go, %v, %more, %both) {id=4} \"loop\"\n"
    "  %outside: f32[3] = Abs(%w) \"outside\"\n"
    "  %y: f32[3] = Add(%t, %outside) \"y\"\n"
    "  output %y\n"
    "}\n";

Graph ValidLoop() {
  auto graph = ParseGraph(kGraph);
  EXPECT_TRUE(graph.ok()) << graph.status().ToString();
  return *std::move(graph);
}

ValueId Named(const Graph& graph, std::string_view name) {
  for (size_t v = 0; v < graph.values.size(); ++v) {
    if (graph.values[v].name == name) return static_cast<ValueId>(v);
  }
  return kNoValue;
}

TEST(LoopNodes, AreAcceptedAndKnown) {
  const Graph graph = ValidLoop();
  EXPECT_TRUE(Verify(graph).ok()) << Verify(graph).ToString();
  EXPECT_EQ(LoopIds(graph), (std::vector<int64_t>{4, 4, 4, 4, 4, 4, 4, -1, -1}));
  EXPECT_EQ(ToString(graph), kGraph);
}

TEST(LoopNodes, NameTheBrokenRule) {
  struct Case {
    const char* name;
    std::function<void(Graph&)> damage;
    const char* expected;
  };
  const auto id = [](int64_t v) { return AttrMap{{"id", AttrValue(v)}}; };
  const Case cases[] = {
      {"a value used outside", [](Graph& g) { g.nodes[8].inputs[0] = Named(g, "next"); },
       "\"next\" is used outside loop 4"},
      {"state used outside", [](Graph& g) { g.nodes[8].inputs[0] = Named(g, "v"); },
       "\"v\" is used outside loop 4"},
      {"an output from inside", [](Graph& g) { g.outputs[0] = Named(g, "sum"); },
       "\"sum\" is used outside"},
      {"no end",
       [](Graph& g) {
         g.nodes.resize(6);
         g.outputs[0] = Named(g, "w");
       },
       "loop 4 has no end"},
      {"another end", [&](Graph& g) { g.nodes[6].attrs = id(5); }, "ends no open loop"},
      {"no id", [](Graph& g) { g.nodes[0].attrs.clear(); }, "loop id -1"},
      {"states in another order", [](Graph& g) { g.nodes[6].inputs[1] = Named(g, "sum"); },
       "does not start with the state"},
      {"a next state of another shape", [](Graph& g) { g.nodes[6].inputs[3] = Named(g, "more"); },
       "carried value 1 is f32"},
      {"a condition that is none", [](Graph& g) { g.nodes[0].inputs[0] = Named(g, "w"); },
       "condition is f32"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Graph graph = ValidLoop();
    c.damage(graph);
    const Status status = Verify(graph);
    EXPECT_EQ(status.code(), Code::kInternal);
    EXPECT_NE(status.message().find(c.expected), std::string::npos) << status.ToString();
  }
}

// A node of the loop stands in for none outside, and an end for no other.
TEST(LoopNodes, KeepTheirValuesWhenEqualNodesBecomeOne) {
  Graph graph = ValidLoop();
  DecisionLog log;
  PassContext context;
  context.decisions = &log;
  ASSERT_TRUE(EliminateCommonSubexpressions(graph, context).ok());
  EXPECT_TRUE(Verify(graph).ok()) << Verify(graph).ToString();
  EXPECT_EQ(ToString(graph), kGraph);
}

Lowered Steps() {
  DecisionLog log;
  PassContext context;
  context.decisions = &log;
  auto lowered = LowerGraph(ValidLoop(), context);
  EXPECT_TRUE(lowered.ok()) << lowered.status().ToString();
  return *std::move(lowered);
}

TEST(LoweredLoops, ComputeWhatTheGraphSays) {
  const Lowered lowered = Steps();
  ASSERT_TRUE(Verify(lowered).ok()) << Verify(lowered).ToString();
  const std::vector<float> x = {1, -2, 3}, w = {10, -20, 30};
  for (const uint8_t go : {0, 1}) {
    const auto got = Interpret(
        lowered, {Tensor::FromValues<uint8_t>(DType::kBool, {}, {&go, 1}),
                  Tensor::FromValues<float>(DType::kF32, {3}, std::span<const float>(x)),
                  Tensor::FromValues<float>(DType::kF32, {3}, std::span<const float>(w))});
    ASSERT_TRUE(got.ok()) << got.status().ToString();
    for (size_t i = 0; i < 3; ++i) {
      const float t = go ? -(x[i] + w[i]) + std::abs(w[i]) : x[i];
      EXPECT_EQ((*got)[0].FloatAt(static_cast<int64_t>(i)), t + std::abs(w[i]));
    }
  }
}

TEST(LoweredLoops, NameTheBrokenRule) {
  struct Case {
    const char* name;
    std::function<void(Lowered&)> damage;
    const char* expected;
  };
  const auto buffer = [](const Lowered& l, std::string_view name) {
    for (BufferId b = 0; b < l.buffers.size(); ++b) {
      if (l.buffers[b].name == name) return b;
    }
    return BufferId{0};
  };
  const auto last_in_loop = [](Lowered& l) {
    size_t s = l.steps.size();
    while (l.steps[s - 1].loop == kNoLoop) --s;
    return s - 1;
  };
  const Case cases[] = {
      {"a step of no loop", [](Lowered& l) { l.steps[3].loop = 7; }, "loop 7 of 1"},
      {"a loop inside itself", [](Lowered& l) { l.loops[0].parent = 0; }, "is inside loop 0"},
      {"a hole", [](Lowered& l) { l.steps[4].loop = kNoLoop; }, "steps among those"},
      {"no steps",
       [](Lowered& l) {
         for (LoweredStep& s : l.steps) s.loop = kNoLoop;
       },
       "has no steps"},
      {"a condition that is none", [&](Lowered& l) { l.loops[0].condition = buffer(l, "v"); },
       "no carried bool"},
      {"a condition that stays",
       [&](Lowered& l) {
         std::erase_if(l.steps, [&](const LoweredStep& s) {
           return s.loop == 0 && s.outputs[0] == buffer(l, "go");
         });
       },
       "writes its condition"},
      {"a state without a first value", [](Lowered& l) { l.steps.erase(l.steps.begin() + 1); },
       "before it is written in full"},
      {"a temporary read outside",
       [&](Lowered& l) { l.steps.back().inputs[0] = buffer(l, "next"); },
       "used outside the loop that writes it"},
      {"an end too early",
       [&](Lowered& l) {
         const size_t last = last_in_loop(l);
         l.steps[last].loop = l.steps[last - 1].loop = kNoLoop;
       },
       "used outside the loop that writes it"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Lowered lowered = Steps();
    c.damage(lowered);
    const Status status = Verify(lowered);
    EXPECT_EQ(status.code(), Code::kInternal) << ToString(lowered);
    EXPECT_NE(status.message().find(c.expected), std::string::npos) << status.ToString();
  }
}

TEST(LoweredLoops, AreRangesOfSteps) {
  Lowered lowered;
  lowered.loops = {{0, kNoLoop}, {1, 0}, {2, kNoLoop}, {3, 2}};
  for (int32_t loop : {-1, 2, 3, 3, 2, -1, 1, 0, -1}) {
    lowered.steps.emplace_back();
    lowered.steps.back().loop = loop;
  }
  const auto ranges = LoopRanges(lowered);
  ASSERT_TRUE(ranges.ok()) << ranges.status().ToString();
  EXPECT_EQ(*ranges, (std::vector<schema::Loop>{{1, 4, 2}, {2, 2, 3}, {6, 2, 0}, {6, 1, 1}}));
}

}  // namespace
}  // namespace aicf::ir
