// Every gap of a model, exactly once, with what helps; and nothing that merely follows from one.
#include "compiler/check/gaps.h"

#include <gtest/gtest.h>

#include "base/scanner.h"
#include "compiler/check/help.h"
#include "compiler/check/needs.h"
#include "compiler/import/testing.h"

namespace aicf {
namespace {

using testing::AddAttribute;
using testing::ModelBuilder;
using testing::SetInt;
using testing::SetInts;

void SetType(onnx::ValueInfoProto& info, int type) {
  info.mutable_type()->mutable_tensor_type()->set_elem_type(type);
}

void Declare(onnx::ValueInfoProto& info, const std::string& name, const testing::Extents& shape,
             int type = onnx::TensorProto::FLOAT) {
  info.set_name(name);
  SetType(info, type);
  auto& dims = *info.mutable_type()->mutable_tensor_type()->mutable_shape();
  for (int64_t e : shape) {
    auto& dim = *dims.add_dim();
    e < 0 ? dim.set_dim_param("N") : dim.set_dim_value(e);
  }
}

const Status kRefusal(Code::kUnsupported, "what Compile said");

Result<GapReport> Find(const ModelBuilder& m, const CompileOptions& options = {}) {
  auto model = m.ImportPartly();
  if (!model.ok()) return model.status();
  return FindGaps(*std::move(model), options, kRefusal);
}

// "subject [nodes]: problem", one a line.
std::string Text(const Result<GapReport>& report) {
  if (!report.ok()) return report.status().ToString();
  std::string out;
  for (const Gap& gap : report->gaps) {
    std::string nodes;
    for (const std::string& n : gap.nodes) nodes += (nodes.empty() ? "" : " ") + n;
    out += gap.subject + (nodes.empty() ? "" : " [" + nodes + "]") + ": " + gap.problem + "\n";
    EXPECT_FALSE(gap.help.empty()) << gap.subject;
  }
  return out;
}

std::string HelpOf(const Result<GapReport>& report, const std::string& subject) {
  for (const Gap& gap : report->gaps) {
    if (gap.subject == subject) return gap.help;
  }
  return "no such gap";
}

ModelBuilder EightGaps() {
  ModelBuilder m;
  SetType(m.Input("text", {2}), onnx::TensorProto::STRING);
  m.Input("x", {-1, 3, -1});
  m.graph()
      .mutable_input(1)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(2)
      ->clear_dim_param();
  m.graph().add_input()->set_name("list");
  m.graph().mutable_input(2)->mutable_type()->mutable_sequence_type();
  SetType(m.Input("shape", {2}), onnx::TensorProto::INT64);
  m.Input("y", {2, 6});
  m.Tensor("complex", {1}, onnx::TensorProto::COMPLEX64);
  m.Node("Frob", {"y"}, {"a"}, "first");
  m.Node("Relu", {"a"}, {"behind"}, "relu");
  m.Node("Warp", {"y"}, {"b"}, "warp").set_domain("acme");
  m.Node("Frob", {"x"}, {"c"}, "second");
  SetInt(m.Node("Cast", {"y"}, {"d"}, "to_text"), "to", onnx::TensorProto::STRING);
  m.Node("Reshape", {"y", "shape"}, {"e"}, "reshape");
  m.Node("Exp", {"e"}, {"f"}, "exp");
  for (const char* name : {"behind", "b", "c", "d", "f"}) m.Output(name);
  return m;
}

TEST(Gaps, EightAreEightInTheModelsOrder) {
  const auto report = Find(EightGaps());
  EXPECT_EQ(Text(report),
            "input \"text\": element type STRING is not supported\n"
            "input \"x\": extents 0 (\"N\"), 2 are open\n"
            "input \"list\": is a sequence, not a tensor\n"
            "input \"shape\" [reshape]: its value has to be known while compiling\n"
            "initializer \"complex\": element type COMPLEX64 is not supported\n"
            "op Frob [first second]: the op is not supported\n"
            "op acme.Warp [warp]: the op is not supported\n"
            "op Cast [to_text]: element type STRING is not supported\n");
  EXPECT_EQ(report->unexamined, 2u);  // relu, exp
  EXPECT_EQ(HelpOf(report, "input \"x\""), "--shapes=x:?x3x?");
  EXPECT_EQ(HelpOf(report, "input \"shape\""), "--bind=shape:FILE.npy");
}

TEST(Gaps, WhatIsGivenIsNoGap) {
  CompileOptions options;
  options.shapes["x"] = {1, 3, 4};
  options.shapes["list"] = {1};  // acts on nothing, and is no mistake
  options.values["shape"] =
      ir::Tensor::FromValues<int64_t>(DType::kI64, {2}, {{int64_t{3}, int64_t{4}}});
  const std::string text = Text(Find(EightGaps(), options));
  EXPECT_EQ(text.find("\"x\""), std::string::npos) << text;
  EXPECT_EQ(text.find("\"shape\""), std::string::npos) << text;
  EXPECT_NE(text.find("op Frob"), std::string::npos) << text;
}

TEST(Gaps, MistakesInTheOptionsStayMistakes) {
  CompileOptions options;
  // A symbol's extent that makes another input impossible.
  ModelBuilder m;
  m.Input("a", {-1});
  m.Input("b", {-1, int64_t{1} << 40});
  m.Input("c", {-1, 2});
  m.Node("Frob", {"a"}, {"y"});
  m.Output("y");
  options.shapes["a"] = {int64_t{1} << 40};
  EXPECT_EQ(Find(m, options).status().code(), Code::kInvalidArgument);
  options.shapes.clear();
  options.shapes["nothing"] = {1};
  EXPECT_EQ(Find(EightGaps(), options).status().code(), Code::kInvalidArgument);
  options.shapes.clear();
  options.shapes["x"] = {1, 4, 4};
  EXPECT_EQ(Find(EightGaps(), options).status().code(), Code::kInvalidArgument);
}

// Every extent of every input, but those that a bound symbol gives.
TEST(Gaps, OpenExtents) {
  ModelBuilder m;
  m.Input("a", {-1, 4});
  m.Input("b", {-1, 5});
  m.Input("c", {2, -1});
  m.graph()
      .mutable_input(2)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(1)
      ->set_dim_param("M");
  m.Input("any", {});
  m.graph().mutable_input(3)->mutable_type()->mutable_tensor_type()->clear_shape();
  m.Node("Relu", {"a"}, {"y"});
  m.Output("y");
  EXPECT_EQ(Text(Find(m)),
            "input \"a\": extent 0 (\"N\") is open\n"
            "input \"b\": extent 0 (\"N\") is open\n"
            "input \"c\": extent 1 (\"M\") is open\n"
            "input \"any\": its rank and extents are open\n");
  CompileOptions options;
  options.shapes["b"] = {7, 5};
  EXPECT_EQ(Text(Find(m, options)),
            "input \"c\": extent 1 (\"M\") is open\n"
            "input \"any\": its rank and extents are open\n");
}

// Sizes of the second Reshape are found although nothing before it can be inferred.
TEST(Gaps, EveryBindingAtOnce) {
  ModelBuilder m;
  m.Input("x", {2, 6});
  for (const char* name : {"first", "second"}) {
    SetType(m.Input(name, {2}), onnx::TensorProto::INT64);
  }
  SetType(m.Input("open", {-1}), onnx::TensorProto::INT64);
  m.Ints("one", {1}, {1});
  m.Node("Reshape", {"x", "first"}, {"a"}, "r1");
  m.Node("Mul", {"second", "one"}, {"doubled"}, "mul");
  m.Node("Reshape", {"a", "doubled"}, {"b"}, "r2");
  m.Node("Reshape", {"b", "open"}, {"c"}, "r3");
  m.Node("Reshape", {"c", "first"}, {"y"}, "r4");
  m.Output("y");
  EXPECT_EQ(Text(Find(m)),
            "input \"first\" [r1 r4]: its value has to be known while compiling\n"
            "input \"second\" [r2]: its value has to be known while compiling\n"
            "input \"open\" [r3]: its value has to be known while compiling\n");
}

// Data is no constant: its open extents stay a gap, and nobody is told to bind a picture.
TEST(Gaps, DataIsNotToBeBound) {
  ModelBuilder m;
  m.Input("x", {-1, 3, 8, 8});
  m.Node("Frob", {"x"}, {"a"}, "frob");
  m.Node("ReduceMax", {"x"}, {"k"}, "max");
  SetInt(*m.graph().mutable_node(1), "keepdims", 0);
  SetInt(m.Node("Cast", {"k"}, {"n"}, "cast"), "to", onnx::TensorProto::INT64);
  m.Node("ConstantOfShape", {"n"}, {"y"}, "fill");
  m.Output("y");
  EXPECT_EQ(Text(Find(m)),
            "input \"x\": extent 0 (\"N\") is open\n"
            "op Frob [frob]: the op is not supported\n");
}

// The walk goes on after a refused node where the model declares what it gives.
TEST(Gaps, DeclaredTypesStandInForRefusedNodes) {
  const auto model = [](bool declared) {
    ModelBuilder m;
    m.Input("x", {-1, 6});
    SetType(m.Input("sizes", {2}), onnx::TensorProto::INT64);
    m.Node("Frob", {"x"}, {"a"}, "frob");
    m.Node("Relu", {"a"}, {"b"}, "relu");
    m.Node("Reshape", {"b", "sizes"}, {"y"}, "reshape");
    m.Output("y");
    if (declared) Declare(*m.graph().add_value_info(), "a", {-1, 6});
    return m;
  };
  CompileOptions options;
  options.shapes["x"] = {2, 6};
  const std::string expected =
      "input \"sizes\" [reshape]: its value has to be known while compiling\n"
      "op Frob [frob]: the op is not supported\n";
  const auto with = Find(model(true), options);
  EXPECT_EQ(Text(with), expected);
  EXPECT_EQ(with->unexamined, 0u);
  const auto without = Find(model(false), options);
  EXPECT_EQ(Text(without), expected);
  EXPECT_EQ(without->unexamined, 2u);
}

// A shape that is computed after a refused node is that node's gap alone.
TEST(Gaps, ValuesOfRefusedNodesAreNoGapsOfTheirReaders) {
  ModelBuilder m;
  m.Input("x", {2, 6});
  m.Node("Frob", {"x"}, {"sizes"}, "frob");
  m.Node("Reshape", {"x", "sizes"}, {"y"}, "reshape");
  m.Output("y");
  Declare(*m.graph().add_value_info(), "sizes", {2}, onnx::TensorProto::INT64);
  EXPECT_EQ(Text(Find(m)), "op Frob [frob]: the op is not supported\n");
}

// What inference refuses, several times over, and what it only meets after that.
TEST(Gaps, InferenceGoesOnBehindARefusal) {
  ModelBuilder m;
  m.Input("x", {2, 3});
  auto& c = m.Input("c", {});
  SetType(c, onnx::TensorProto::BOOL);
  for (const char* name : {"if1", "if2"}) {
    onnx::NodeProto& node = m.Node("If", {"c"}, {StrCat(name, "_out")}, name);
    for (const char* branch : {"then_branch", "else_branch"}) {
      onnx::GraphProto& g = *AddAttribute(node, branch, onnx::AttributeProto::GRAPH).mutable_g();
      onnx::NodeProto& inner = *g.add_node();
      inner.set_op_type("Transpose");
      SetInts(inner, "perm", branch[0] == 't' ? testing::Extents{0, 1} : testing::Extents{1, 0});
      inner.add_input("x");
      inner.add_output("t");
      g.add_output()->set_name("t");
    }
  }
  m.Node("Add", {"if1_out", "if2_out"}, {"sum"}, "sum");
  m.Node("Relu", {"x"}, {"fine"}, "fine");
  m.Output("sum");
  m.Output("fine");
  // A scalar condition can be bound.
  EXPECT_EQ(Text(Find(m)), "input \"c\" [if1 if2]: its value has to be known while compiling\n");
}

// Lowering refuses what inference took, also where only refused nodes read the result.
TEST(Gaps, LoweringGoesOnBehindARefusal) {
  ModelBuilder m;
  SetType(m.Input("i", {2, 3}), onnx::TensorProto::INT32);
  m.Input("x", {1, 1, 4, 4});
  m.Floats("scales", {4}, {1, 1, 2, 2});
  m.Node("ReduceLogSumExp", {"i"}, {"a"}, "first");
  m.Node("Abs", {"a"}, {"b"}, "behind");
  testing::SetString(m.Node("Resize", {"x", "", "scales"}, {"c"}, "resize"), "mode", "magic");
  m.Node("ReduceLogSumExp", {"i"}, {"d"}, "second");
  SetInt(*m.graph().mutable_node(3), "keepdims", 0);
  m.Node("Frob", {"d"}, {"e"}, "frob");
  m.Node("Relu", {"x"}, {"fine"}, "fine");
  SetInt(m.Node("ReduceLogSumExp", {"i"}, {"f"}, "third"), "noop_with_empty_axes", 1);
  SetInt(m.Node("Cast", {"f"}, {"g"}, "cast"), "to", onnx::TensorProto::STRING);
  for (const char* name : {"b", "c", "e", "g", "fine"}) m.Output(name);
  const auto report = Find(m);
  EXPECT_EQ(Text(report),
            "op ReduceLogSumExp [first second third]: ReduceLogSumExp of integers\n"
            "op Resize [resize]: is malformed: mode is \"magic\"\n"
            "op Frob [frob]: the op is not supported\n"
            "op Cast [cast]: element type STRING is not supported\n");
  EXPECT_EQ(report->unexamined, 1u);  // behind
}

// Loop over `v` with the trip count `trips`; each trip doubles its length, or leaves it.
void AddLoop(ModelBuilder& m, const std::string& trips, bool grows = true) {
  onnx::NodeProto& loop = m.Node("Loop", {trips, "", "x"}, {"y"}, "loop");
  onnx::GraphProto& body = *AddAttribute(loop, "body", onnx::AttributeProto::GRAPH).mutable_g();
  for (const char* name : {"i", "c", "v"}) body.add_input()->set_name(name);
  onnx::NodeProto& step = *body.add_node();
  step.set_op_type(grows ? "Concat" : "Relu");
  for (int k = 0; k < (grows ? 2 : 1); ++k) step.add_input("v");
  step.add_output("w");
  if (grows) SetInt(step, "axis", 0);
  for (const char* name : {"c", "w"}) body.add_output()->set_name(name);
}

TEST(Gaps, LoopsWhoseShapesDependOnData) {
  ModelBuilder m;
  m.Input("x", {2, 3});
  SetType(m.Input("n", {}), onnx::TensorProto::INT64);
  AddLoop(m, "n");
  m.Output("y");
  EXPECT_EQ(Text(Find(m)), "input \"n\" [loop]: its value has to be known while compiling\n");
  // The same with a count that is computed from the data: nothing to bind.
  m.graph().mutable_input()->RemoveLast();
  m.graph().clear_node();
  SetInt(m.Node("ReduceMax", {"x"}, {"top"}, "max"), "keepdims", 0);
  SetInt(m.Node("Cast", {"top"}, {"count"}, "cast"), "to", onnx::TensorProto::INT64);
  AddLoop(m, "count");
  const auto report = Find(m);
  EXPECT_NE(
      Text(report).find("op Loop [loop]: carries \"w\" into a trip as 2x3 and out of it as 4x3"),
      std::string::npos)
      << Text(report);
  EXPECT_NE(HelpOf(report, "op Loop").find("fixed"), std::string::npos);
}

TEST(Gaps, ALoopThatNothingEnds) {
  ModelBuilder m;
  m.Input("x", {2, 3});
  AddLoop(m, "", false);
  m.Output("y");
  EXPECT_EQ(
      Text(Find(m)),
      "op Loop [loop]: has no trip count, and its condition stays true: it would never end\n");
}

TEST(Gaps, SubgraphsAreLookedInto) {
  ModelBuilder m;
  m.Input("x", {2, 3});
  m.Ints("trips", {}, {2});
  onnx::NodeProto& loop = m.Node("Loop", {"trips", "", "x"}, {"y"}, "loop");
  onnx::GraphProto& body = *AddAttribute(loop, "body", onnx::AttributeProto::GRAPH).mutable_g();
  for (const char* name : {"i", "go", "v"}) body.add_input()->set_name(name);
  for (const char* op : {"Frob", "Warp"}) {
    onnx::NodeProto& node = *body.add_node();
    node.set_op_type(op);
    node.set_name(StrCat("in_", op));
    node.add_input(body.node_size() == 1 ? "v" : "Frob_out");
    node.add_output(StrCat(op, "_out"));
  }
  body.add_output()->set_name("go");
  body.add_output()->set_name("Warp_out");
  m.Node("Relu", {"y"}, {"z"}, "behind");
  m.Output("z");
  const auto report = Find(m);
  EXPECT_EQ(Text(report),
            "op Frob [in_Frob]: the op is not supported\n"
            "op Warp [in_Warp]: the op is not supported\n");
  EXPECT_EQ(report->unexamined, 1u);
}

TEST(Gaps, TypesOfOutputsAndSparseInitializers) {
  ModelBuilder m = testing::ReluModel();
  m.graph().add_sparse_initializer()->mutable_values()->set_name("sparse");
  m.Node("Relu", {"sparse"}, {"z"}, "reads");
  m.Output("z");
  SetType(*m.graph().mutable_output(1), onnx::TensorProto::STRING);
  EXPECT_EQ(Text(Find(m)),
            "initializer \"sparse\": is sparse\n"
            "output \"z\": element type STRING is not supported\n");
}

TEST(Gaps, SeveralAttributesOfANode) {
  ModelBuilder m = testing::ReluModel();
  SetInt(*m.graph().mutable_node(0), "magic", 1);
  SetInt(*m.graph().mutable_node(0), "axis", 1);
  const std::string text = Text(Find(m));
  EXPECT_NE(text.find("\"magic\""), std::string::npos) << text;
  EXPECT_NE(text.find("\"axis\""), std::string::npos) << text;
}

TEST(Gaps, AModelThatIsMalformedIsNotUnsupported) {
  ModelBuilder m;
  m.Input("x", {2, 3});
  m.Input("w", {4, 5});
  m.Node("MatMul", {"x", "w"}, {"y"}, "product");
  m.Output("y");
  EXPECT_EQ(Find(m).status().code(), Code::kBadModel);
}

// What is refused later than all of this (a kernel that the policy demands) is in the refusal
// alone.
TEST(Gaps, TheRefusalItselfWhereNothingElseIsFound) {
  EXPECT_EQ(Text(Find(testing::ReluModel())), "the model: what Compile said\n");
}

// Kernels that the policy demands, of every step at once.
TEST(Gaps, KernelsOfEveryStep) {
  ModelBuilder m;
  m.Input("x", {2, 3, 4});
  m.Input("w", {4, 4});
  m.Node("MatMul", {"x", "w"}, {"a"}, "product");
  m.Node("LogSoftmax", {"a"}, {"b"}, "soft");  // between two products a softmax is attention
  m.Node("MatMul", {"b", "w"}, {"y"}, "again");
  m.Output("y");
  CompileOptions options;
  options.target = "cpu:baseline";
  options.policy = *Policy::Parse("gemm=cublaslt");
  EXPECT_EQ(Text(Find(m, options)), "the model: what Compile said\n");  // a wish, no demand
  options.policy_strict = true;
  const auto report = Find(m, options);
  ASSERT_TRUE(report.ok()) << report.status().ToString();
  ASSERT_EQ(report->gaps.size(), 1u) << Text(report);
  EXPECT_EQ(report->gaps[0].subject, "gemm step");
  EXPECT_EQ(report->gaps[0].nodes, (std::vector<std::string>{"product", "again"}));
}

TEST(Gaps, ALongListKeepsEveryName) {
  ModelBuilder m = testing::ReluModel();
  for (int i = 0; i < 500; ++i) m.Node("Frob", {"x"}, {StrCat("v", i)}, StrCat("n", i));
  const auto report = Find(m);
  ASSERT_TRUE(report.ok());
  ASSERT_EQ(report->gaps.size(), 1u);
  EXPECT_EQ(report->gaps[0].nodes.size(), 500u);
}

TEST(Gaps, HelpIsNeverEmpty) {
  for (const char* op : {"", "Relu", "com.microsoft.Foo", "ai.onnx.ml.TreeEnsemble", "a.b"}) {
    EXPECT_FALSE(HelpAgainst(op, "anything").empty()) << op;
  }
  EXPECT_NE(HelpAgainst("com.microsoft.Foo", "op is not supported").find("ORT_DISABLE_ALL"),
            std::string_view::npos);
}

}  // namespace
}  // namespace aicf
