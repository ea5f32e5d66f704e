// Control flow and sequences, from a model to values.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "compiler/import/testing.h"
#include "compiler/passes/graph/passes.h"
#include "compiler/passes/lower/lower.h"

namespace aicf {
namespace {

using testing::Extents;
using testing::Floats;
using testing::ModelBuilder;
using testing::Names;

onnx::NodeProto& AddNode(onnx::GraphProto& g, const std::string& op, const Names& inputs,
                         const Names& outputs) {
  onnx::NodeProto& node = *g.add_node();
  node.set_op_type(op);
  for (const std::string& s : inputs) node.add_input(s);
  for (const std::string& s : outputs) node.add_output(s);
  return node;
}

onnx::GraphProto& AddBody(onnx::NodeProto& node, const std::string& attribute, const Names& inputs,
                          const Names& outputs) {
  onnx::AttributeProto& a = testing::AddAttribute(node, attribute, onnx::AttributeProto::GRAPH);
  for (const std::string& s : inputs) a.mutable_g()->add_input()->set_name(s);
  for (const std::string& s : outputs) a.mutable_g()->add_output()->set_name(s);
  return *a.mutable_g();
}

ir::Tensor Flag(bool v) {
  const uint8_t byte = v ? 1 : 0;
  return ir::Tensor::FromValues<uint8_t>(DType::kBool, {}, std::span(&byte, 1));
}

struct Evaluation {
  Status status;
  std::vector<std::vector<double>> outputs;
  int nodes = 0;
  std::vector<std::string> choices;  // of the decisions about control flow
};

Evaluation Evaluate(const ModelBuilder& model, const std::vector<ir::Tensor>& feeds,
                    bool nan_branches = false) {
  Evaluation out;
  auto graph = model.Import();
  out.status = graph.status();
  if (!out.status.ok()) return out;
  DecisionLog log;
  PassContext context;
  context.decisions = &log;
  context.nan_branches = nan_branches;
  out.status = InferAndFold(*graph, context);
  if (out.status.ok()) out.status = Verify(*graph);
  if (!out.status.ok()) return out;
  log.ForEach([&](const Decision& d) {
    if (d.kind == DecisionKind::kControlFlow) out.choices.push_back(d.choice);
  });
  out.nodes = static_cast<int>(graph->nodes.size());
  auto lowered = LowerGraph(*graph, context);
  out.status = lowered.status();
  if (!out.status.ok()) return out;
  auto tensors = Interpret(*lowered, feeds);
  out.status = tensors.status();
  if (!out.status.ok()) return out;
  for (const ir::Tensor& t : *tensors) {
    out.outputs.emplace_back();
    for (int64_t i = 0; i < t.count(); ++i) {
      out.outputs.back().push_back(IsFloat(t.dtype()) ? t.FloatAt(i)
                                                      : static_cast<double>(t.IntAt(i)));
    }
  }
  return out;
}

using Rows = std::vector<std::vector<double>>;

// y = c ? x + x : -x, the branches reading x from outside.
ModelBuilder BranchModel() {
  ModelBuilder model;
  model.Input("x", {2});
  onnx::NodeProto& node = model.Node("If", {"c"}, {"y"}, "choice");
  AddNode(AddBody(node, "then_branch", {}, {"t"}), "Add", {"x", "x"}, {"t"});
  AddNode(AddBody(node, "else_branch", {}, {"e"}), "Neg", {"x"}, {"e"});
  model.Output("y");
  return model;
}

TEST(Expand, AnIfWithAConstantConditionLeavesOneBranch) {
  ModelBuilder model = BranchModel();
  onnx::TensorProto& c = model.Tensor("c", {}, onnx::TensorProto::BOOL);
  c.add_int32_data(0);
  const Evaluation r = Evaluate(model, {Floats({2}, {1, 2})});
  ASSERT_TRUE(r.status.ok()) << r.status.ToString();
  EXPECT_EQ(r.outputs, (Rows{{-1, -2}}));
  EXPECT_EQ(r.nodes, 2);  // Neg and what binds the output's name
}

TEST(Expand, AnIfAtRunTimeSelects) {
  ModelBuilder model = BranchModel();
  model.Input("c", {}, onnx::TensorProto::BOOL);
  for (bool c : {false, true}) {
    const Evaluation r = Evaluate(model, {Floats({2}, {1, 2}), Flag(c)});
    ASSERT_TRUE(r.status.ok()) << r.status.ToString();
    EXPECT_EQ(r.outputs, c ? (Rows{{2, 4}}) : (Rows{{-1, -2}}));
  }
}

// y = c ? x : x as three elements, which two are not.
ModelBuilder ImpossibleElse() {
  ModelBuilder model;
  model.Input("x", {2});
  model.Input("c", {}, onnx::TensorProto::BOOL);
  model.Ints("three", {1}, {3});
  onnx::NodeProto& node = model.Node("If", {"c"}, {"y"}, "choice");
  AddNode(AddBody(node, "then_branch", {}, {"t"}), "Identity", {"x"}, {"t"});
  AddNode(AddBody(node, "else_branch", {}, {"e"}), "Reshape", {"x", "three"}, {"e"});
  model.Output("y");
  return model;
}

TEST(Expand, ABranchThatCannotRunIsRefused) {
  const Evaluation refused = Evaluate(ImpossibleElse(), {Floats({2}, {1, 2}), Flag(true)});
  EXPECT_EQ(refused.status.code(), Code::kUnsupported);
  for (const char* part :
       {"choice", "else_branch cannot run", "--bind", "--impossible-branches=nan"}) {
    EXPECT_NE(refused.status.ToString().find(part), std::string::npos) << refused.status.ToString();
  }
}

TEST(Expand, ABranchThatCannotRunGivesNanWhereThatIsAskedFor) {
  const Evaluation yes = Evaluate(ImpossibleElse(), {Floats({2}, {1, 2}), Flag(true)}, true);
  ASSERT_TRUE(yes.status.ok()) << yes.status.ToString();
  EXPECT_EQ(yes.outputs, (Rows{{1, 2}}));
  const Evaluation no = Evaluate(ImpossibleElse(), {Floats({2}, {1, 2}), Flag(false)}, true);
  ASSERT_TRUE(no.status.ok()) << no.status.ToString();
  ASSERT_EQ(no.outputs.size(), 1u);
  ASSERT_EQ(no.outputs[0].size(), 2u);
  for (double v : no.outputs[0]) EXPECT_TRUE(std::isnan(v));
}

TEST(Expand, BranchesOfDifferentShapesAtRunTimeAreRefused) {
  ModelBuilder model;
  model.Input("c", {}, onnx::TensorProto::BOOL);
  model.Input("x", {2});
  onnx::NodeProto& node = model.Node("If", {"c"}, {"y"}, "choice");
  AddNode(AddBody(node, "then_branch", {}, {"t"}), "ReduceMax", {"x"}, {"t"});
  AddNode(AddBody(node, "else_branch", {}, {"e"}), "Neg", {"x"}, {"e"});
  model.Output("y");
  const Evaluation r = Evaluate(model, {Flag(true), Floats({2}, {1, 2})});
  EXPECT_EQ(r.status.code(), Code::kUnsupported);
  EXPECT_NE(r.status.message().find("choice"), std::string::npos);
  EXPECT_NE(r.status.message().find("--bind"), std::string::npos);
}

// Doubles v each time, stacking what it was; goes on while i + 1 < limit.
ModelBuilder Doubling(bool limited) {
  ModelBuilder model;
  model.Input("v0", {2});
  model.Ints("trips", {}, {3});
  if (limited) model.Input("limit", {}, onnx::TensorProto::INT64);
  const Names outputs = limited ? Names{"v"} : Names{"v", "history"};
  onnx::NodeProto& node = model.Node("Loop", {"trips", "", "v0"}, outputs, "loop");
  onnx::GraphProto& body =
      AddBody(node, "body", {"i", "go", "v_in"},
              limited ? Names{"go_on", "v_out"} : Names{"go", "v_out", "v_in"});
  AddNode(body, "Add", {"v_in", "v_in"}, {"v_out"});
  if (limited) {
    model.Ints("one", {}, {1});
    AddNode(body, "Add", {"i", "one"}, {"next"});
    AddNode(body, "Less", {"next", "limit"}, {"go_on"});
  }
  for (const std::string& name : outputs) model.Output(name);
  return model;
}

TEST(Expand, ALoopWithAKnownTripCountIsUnrolled) {
  const Evaluation r = Evaluate(Doubling(false), {Floats({2}, {1, 3})});
  ASSERT_TRUE(r.status.ok()) << r.status.ToString();
  EXPECT_EQ(r.outputs, (Rows{{8, 24}, {1, 3, 2, 6, 4, 12}}));
}

// v + 1 in each trip, with every v on the way; `grows`: v one element longer in each trip.
ModelBuilder CountingLoop(int64_t trips, bool grows) {
  ModelBuilder model;
  model.Input("v0", {2});
  model.Ints("trips", {}, {trips});
  model.Floats("one", {1}, {1});
  const Names outputs = grows ? Names{"v"} : Names{"v", "history"};
  onnx::NodeProto& node = model.Node("Loop", {"trips", "", "v0"}, outputs, "loop");
  onnx::GraphProto& body = AddBody(node, "body", {"i", "go", "v_in"},
                                   grows ? Names{"go", "v_out"} : Names{"go", "v_out", "v_in"});
  if (grows) {
    testing::SetInt(AddNode(body, "Concat", {"v_in", "one"}, {"v_out"}), "axis", 0);
  } else {
    AddNode(body, "Add", {"v_in", "one"}, {"w0"});
    for (int k = 0; k < 20; ++k) AddNode(body, "Neg", {StrCat("w", k)}, {StrCat("w", k + 1)});
    AddNode(body, "Identity", {"w20"}, {"v_out"});
  }
  for (const std::string& name : outputs) model.Output(name);
  return model;
}

TEST(Expand, ALongLoopStaysALoopOfAKnownNumberOfTrips) {
  constexpr int64_t kTrips = 1'000;  // of more than twenty nodes each
  const Evaluation r = Evaluate(CountingLoop(kTrips, false), {Floats({2}, {1, 3})});
  ASSERT_TRUE(r.status.ok()) << r.status.ToString();
  EXPECT_LT(r.nodes, 60);
  EXPECT_EQ(r.outputs[0], (std::vector<double>{kTrips + 1, kTrips + 3}));
  ASSERT_EQ(r.outputs[1].size(), static_cast<size_t>(2 * kTrips));
  EXPECT_EQ(r.outputs[1].front(), 1);
  EXPECT_EQ(r.outputs[1].back(), kTrips + 2);
}

TEST(Expand, WhatOnlyUnrollingCanRunIsUnrolledWithinTheBudget) {
  const Evaluation few = Evaluate(CountingLoop(50, true), {Floats({2}, {1, 3})});
  ASSERT_TRUE(few.status.ok()) << few.status.ToString();
  EXPECT_EQ(few.outputs[0].size(), 52u);
  const Evaluation many = Evaluate(CountingLoop(int64_t{1} << 40, true), {Floats({2}, {1, 3})});
  EXPECT_EQ(many.status.code(), Code::kResource);
  EXPECT_NE(many.status.message().find("--budget=nodes:2199023255552"), std::string::npos)
      << many.status.message();
  EXPECT_NE(many.status.message().find("its shape cannot change"), std::string::npos);
}

TEST(Expand, ALoopThatMayEndEarlyKeepsItsLastValues) {
  for (int64_t limit : {0, 1, 2, 3, 9}) {
    const ir::Tensor bound = ir::Tensor::FromValues<int64_t>(DType::kI64, {}, {{limit}});
    const Evaluation r = Evaluate(Doubling(true), {Floats({2}, {1, 3}), bound});
    ASSERT_TRUE(r.status.ok()) << r.status.ToString();
    const double times = limit <= 1 ? 2 : limit == 2 ? 4 : 8;
    EXPECT_EQ(r.outputs, (Rows{{times, 3 * times}})) << limit;
  }
}

TEST(Expand, AScanRunsOverItsAxisInBothDirections) {
  for (bool reverse : {false, true}) {
    ModelBuilder model;
    model.Input("s0", {2});
    model.Input("x", {3, 2});
    onnx::NodeProto& node = model.Node("Scan", {"s0", "x"}, {"s", "y"}, "sums");
    testing::SetInt(node, "num_scan_inputs", 1);
    if (reverse) testing::SetInts(node, "scan_input_directions", {1});
    onnx::GraphProto& body = AddBody(node, "body", {"s_in", "x_in"}, {"s_out", "y_out"});
    AddNode(body, "Add", {"s_in", "x_in"}, {"s_out"});
    AddNode(body, "Identity", {"s_out"}, {"y_out"});
    model.Output("s");
    model.Output("y");
    const Evaluation r = Evaluate(model, {Floats({2}, {0, 0}), Floats({3, 2}, {1, 2, 3, 4, 5, 6})});
    ASSERT_TRUE(r.status.ok()) << r.status.ToString();
    EXPECT_EQ(r.outputs, reverse ? (Rows{{9, 12}, {5, 6, 8, 10, 9, 12}})
                                 : (Rows{{9, 12}, {1, 2, 4, 6, 9, 12}}));
    EXPECT_EQ(r.choices, (std::vector<std::string>{"unrolled"}));
  }
}

// Sums from the last column on, each stored in its column's place.
TEST(Expand, ALongScanBecomesALoop) {
  constexpr int64_t kSteps = 1'500;
  ModelBuilder model;
  model.Input("s0", {2});
  model.Input("x", {2, kSteps});
  onnx::NodeProto& node = model.Node("Scan", {"s0", "x"}, {"s", "y"}, "sums");
  testing::SetInt(node, "num_scan_inputs", 1);
  testing::SetInts(node, "scan_input_axes", {-1});
  testing::SetInts(node, "scan_output_axes", {-1});
  testing::SetInts(node, "scan_input_directions", {1});
  testing::SetInts(node, "scan_output_directions", {1});
  onnx::GraphProto& body = AddBody(node, "body", {"s_in", "x_in"}, {"s_out", "y_out"});
  AddNode(body, "Add", {"s_in", "x_in"}, {"s_out"});
  AddNode(body, "Identity", {"s_out"}, {"y_out"});
  model.Output("s");
  model.Output("y");
  std::vector<float> x(2 * kSteps, 1);
  std::fill(x.begin() + kSteps, x.end(), 2);
  const Evaluation r = Evaluate(model, {Floats({2}, {0, 0}), Floats({2, kSteps}, x)});
  ASSERT_TRUE(r.status.ok()) << r.status.ToString();
  EXPECT_LT(r.nodes, 40);
  EXPECT_EQ(r.choices.front(), "a loop");
  EXPECT_EQ(r.outputs[0], (std::vector<double>{kSteps, 2 * kSteps}));
  for (int64_t t = 0; t < kSteps; ++t) {
    ASSERT_EQ(r.outputs[1][static_cast<size_t>(t)], kSteps - t);
    ASSERT_EQ(r.outputs[1][static_cast<size_t>(kSteps + t)], 2 * (kSteps - t));
  }
}

TEST(Expand, SequencesDisappear) {
  ModelBuilder model;
  model.Input("x", {4});
  model.Ints("two", {}, {2});
  model.Ints("minus_one", {}, {-1});
  model.Node("SplitToSequence", {"x", "two"}, {"halves"});
  model.Node("SequenceInsert", {"halves", "x"}, {"three"});
  model.Node("SequenceErase", {"three", "minus_one"}, {"again"});
  onnx::NodeProto& map = model.Node("SequenceMap", {"again"}, {"negated"});
  AddNode(AddBody(map, "body", {"item"}, {"out"}), "Neg", {"item"}, {"out"});
  testing::SetInt(model.Node("ConcatFromSequence", {"negated"}, {"y"}), "axis", 0);
  model.Node("SequenceLength", {"three"}, {"n"});
  model.Output("y");
  model.Output("n");
  model.Output("halves");
  const Evaluation r = Evaluate(model, {Floats({4}, {1, 2, 3, 4})});
  ASSERT_TRUE(r.status.ok()) << r.status.ToString();
  EXPECT_EQ(r.outputs, (Rows{{-1, -2, -3, -4}, {3}, {1, 2}, {3, 4}}));
}

TEST(Expand, SequencesAndOptionalsAreNoTensors) {
  const auto use = [](const std::function<void(ModelBuilder&)>& node) {
    ModelBuilder model;
    model.Input("x", {2});
    model.Node("SequenceConstruct", {"x", "x"}, {"s"});
    model.Node("Optional", {}, {"none"});
    node(model);
    model.Output("y");
    return Evaluate(model, {Floats({2}, {1, 2})}).status.code();
  };
  const auto op = [&](const char* type, const std::vector<std::string>& inputs) {
    return use([&](ModelBuilder& m) { m.Node(type, inputs, {"y"}); });
  };
  EXPECT_EQ(op("Identity", {"x"}), Code::kOk);
  EXPECT_EQ(op("ReduceSum", {"s"}), Code::kBadModel);
  EXPECT_EQ(op("Add", {"x", "s"}), Code::kBadModel);
  EXPECT_EQ(op("Softplus", {"none"}), Code::kBadModel);
  EXPECT_EQ(op("MeanVarianceNormalization", {"s"}), Code::kBadModel);
  EXPECT_EQ(op("SequenceConstruct", {"x", "s"}), Code::kUnsupported);
  EXPECT_EQ(op("SequenceConstruct", {"none"}), Code::kUnsupported);
  for (const bool condition : {false, true}) {
    EXPECT_EQ(use([&](ModelBuilder& m) {
                const std::string trips = condition ? "" : "s", go = condition ? "s" : "";
                onnx::NodeProto& node = m.Node("Loop", {trips, go, "x"}, {"y"});
                onnx::GraphProto& body = AddBody(node, "body", {"i", "go", "v"}, {"go", "w"});
                AddNode(body, "Neg", {"v"}, {"w"});
              }),
              Code::kBadModel);
  }
  EXPECT_EQ(use([](ModelBuilder& m) {
              onnx::NodeProto& node = m.Node("If", {"s"}, {"y"});
              AddNode(AddBody(node, "then_branch", {}, {"t"}), "Neg", {"x"}, {"t"});
              AddNode(AddBody(node, "else_branch", {}, {"e"}), "Abs", {"x"}, {"e"});
            }),
            Code::kBadModel);
}

TEST(Expand, AnEndlessLoopIsRefused) {
  ModelBuilder model;
  model.Input("go", {}, onnx::TensorProto::BOOL);
  model.Input("v0", {2});
  onnx::NodeProto& node = model.Node("Loop", {"", "go", "v0"}, {"v"}, "endless");
  onnx::GraphProto& body = AddBody(node, "body", {"i", "go_in", "v_in"}, {"go_in", "v_out"});
  AddNode(body, "Neg", {"v_in"}, {"v_out"});
  model.Output("v");
  const Evaluation r = Evaluate(model, {Flag(true), Floats({2}, {1, 2})});
  EXPECT_EQ(r.status.code(), Code::kUnsupported);
}

TEST(Expand, ABodyCannotReadTheNodesOwnOutput) {
  ModelBuilder model = BranchModel();
  model.Input("c", {}, onnx::TensorProto::BOOL);
  model.graph().mutable_node(0)->mutable_attribute(0)->mutable_g()->mutable_node(0)->set_input(0,
                                                                                               "y");
  EXPECT_EQ(Evaluate(model, {Floats({2}, {1, 2}), Flag(true)}).status.code(), Code::kBadModel);
}

}  // namespace
}  // namespace aicf
