// Model-local functions: what a call computes, whose names it takes, and which calls are refused.
#include "compiler/import/onnx_functions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "compiler/compiler.h"
#include "compiler/import/testing.h"
#include "compiler/passes/lower/lower.h"

namespace aicf {
namespace {

using testing::AddAttribute;
using testing::Floats;
using testing::ModelBuilder;
using testing::Names;
using testing::SetFloat;
using testing::SetInt;

struct FunctionBuilder {
  onnx::FunctionProto& proto;

  FunctionBuilder& Opset(int64_t version, const std::string& domain = "") {
    onnx::OperatorSetIdProto& import = *proto.add_opset_import();
    import.set_domain(domain);
    import.set_version(version);
    return *this;
  }
  onnx::NodeProto& Node(const std::string& op, const Names& inputs, const Names& outputs,
                        const std::string& domain = "") {
    onnx::NodeProto& node = *proto.add_node();
    node.set_op_type(op);
    node.set_domain(domain);
    for (const std::string& s : inputs) node.add_input(s);
    for (const std::string& s : outputs) node.add_output(s);
    return node;
  }
  // Of fields that came after the schema which the protobuf classes are made from.
  void LaterField(int number, const std::string& bytes) {
    std::string& raw = *proto.mutable_unknown_fields();
    raw += static_cast<char>(number << 3 | 2);
    raw += static_cast<char>(bytes.size());
    raw += bytes;
  }
  void Default(const std::string& name, float value) {
    onnx::NodeProto holder;
    SetFloat(holder, name, value);
    LaterField(11, holder.attribute(0).SerializeAsString());
  }
};

FunctionBuilder AddFunction(ModelBuilder& m, const std::string& name, const Names& inputs,
                            const Names& outputs) {
  onnx::FunctionProto& f = *m.proto().add_functions();
  f.set_name(name);
  f.set_domain("local");
  for (const std::string& s : inputs) f.add_input(s);
  for (const std::string& s : outputs) f.add_output(s);
  return {f};
}

onnx::NodeProto& Call(ModelBuilder& m, const std::string& name, const Names& inputs,
                      const Names& outputs, const std::string& node = "") {
  onnx::NodeProto& call = m.Node(name, inputs, outputs, node);
  call.set_domain("local");
  return call;
}

void Refer(onnx::NodeProto& node, const std::string& name, const std::string& to,
           onnx::AttributeProto::AttributeType type = onnx::AttributeProto::FLOAT) {
  AddAttribute(node, name, type).set_ref_attr_name(to);
}

std::vector<double> OutputValues(const ModelBuilder& model, const std::vector<ir::Tensor>& inputs,
                                 const std::map<std::string, ir::Tensor, std::less<>>& bound = {}) {
  DecisionLog log;
  PassContext context;
  context.decisions = &log;
  context.device = *abi::FindDevice("cpu:baseline");
  PassRunner runner({});
  CompileOptions options;
  options.values = bound;
  auto graph = model.Import();
  if (graph.ok()) graph = PrepareGraph(*std::move(graph), options, runner, context);
  if (!graph.ok()) {
    ADD_FAILURE() << graph.status().ToString();
    return {};
  }
  const auto lowered = LowerGraph(*graph, context);
  if (!lowered.ok()) {
    ADD_FAILURE() << lowered.status().ToString();
    return {};
  }
  const auto outputs = Interpret(*lowered, inputs);
  if (!outputs.ok()) {
    ADD_FAILURE() << outputs.status().ToString();
    return {};
  }
  std::vector<double> out;
  for (const ir::Tensor& t : *outputs) {
    for (int64_t i = 0; i < t.count(); ++i) out.push_back(t.FloatAt(i));
  }
  return out;
}

void ExpectValues(const std::vector<double>& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-6) << i;
}

void ExpectRefused(const ModelBuilder& model, Code code, const std::string& part) {
  const auto graph = model.Import();
  ASSERT_FALSE(graph.ok()) << part;
  EXPECT_EQ(graph.status().code(), code) << graph.status().ToString();
  EXPECT_NE(graph.status().message().find(part), std::string::npos) << graph.status().message();
}

const std::vector<float> kX = {-2, -1, 0, 1, 2, 3};

ModelBuilder Empty(int64_t opset = 17) {
  ModelBuilder m(opset);
  m.Input("x", {2, 3});
  return m;
}

// act(x) = leaky(x, slope) + x, whose slope is 0.5 by default.
void AddAct(ModelBuilder& m) {
  FunctionBuilder act = AddFunction(m, "act", {"a"}, {"r"}).Opset(17);
  Refer(act.Node("LeakyRelu", {"a"}, {"t"}), "alpha", "slope");
  act.Node("Add", {"t", "a"}, {"r"});
  act.Default("slope", 0.5f);
}

double Act(double x, double slope) { return (x < 0 ? slope * x : x) + x; }

TEST(OnnxFunctions, CallsNestAndTakeAttributesOrDefaults) {
  ModelBuilder m = Empty();
  AddAct(m);
  FunctionBuilder twice = AddFunction(m, "twice", {"a"}, {"r"}).Opset(1, "local");
  twice.Node("act", {"a"}, {"t"}, "local");
  Refer(twice.Node("act", {"t"}, {"r"}, "local"), "slope", "second");
  SetFloat(Call(m, "twice", {"x"}, {"y"}), "second", 0.25f);
  Call(m, "twice", {"y"}, {"z"});
  m.Output("z");
  std::vector<double> expected;
  for (double x : kX) {
    const double y = Act(Act(x, 0.5), 0.25);
    expected.push_back(Act(Act(y, 0.5), 0.5));
  }
  ExpectValues(OutputValues(m, {Floats({2, 3}, kX)}), expected);
}

// An attribute that is neither given nor has a default is the op's own default.
TEST(OnnxFunctions, AnAttributeThatNobodyGivesIsLeftOut) {
  ModelBuilder m = Empty();
  FunctionBuilder f = AddFunction(m, "f", {"a"}, {"r"}).Opset(17);
  Refer(f.Node("LeakyRelu", {"a"}, {"r"}), "alpha", "slope");
  Call(m, "f", {"x"}, {"y"});
  m.Output("y");
  const auto graph = m.Import();
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_TRUE(graph->nodes[0].attrs.empty());
}

TEST(OnnxFunctions, AbsentInputsAndOutputs) {
  ModelBuilder m = Empty();
  m.Floats("one", {}, {1});
  FunctionBuilder f = AddFunction(m, "f", {"a", "low", "high"}, {"r", "unused"}).Opset(17);
  f.Node("Clip", {"a", "low", "high"}, {"r"});
  f.Node("Exp", {"a"}, {"unused"});
  Call(m, "f", {"x", "", "one"}, {"top"});
  Call(m, "f", {"x", "one"}, {"bottom", ""});
  m.Output("top");
  m.Output("bottom");
  ExpectValues(OutputValues(m, {Floats({2, 3}, kX)}), {-2, -1, 0, 1, 1, 1, 1, 1, 1, 1, 2, 3});
}

// Before opset 13 Softmax works on all axes from its axis on.
TEST(OnnxFunctions, AFunctionHasItsOwnOpset) {
  ModelBuilder m(18);
  m.Input("x", {1, 2, 3});
  FunctionBuilder inner = AddFunction(m, "inner", {"a"}, {"r"}).Opset(18);
  SetInt(inner.Node("Softmax", {"a"}, {"r"}), "axis", 2);
  FunctionBuilder old = AddFunction(m, "old", {"a"}, {"r", "s"}).Opset(11).Opset(1, "local");
  SetInt(old.Node("Softmax", {"a"}, {"r"}), "axis", 1);
  old.Node("inner", {"a"}, {"s"}, "local");
  Call(m, "old", {"x"}, {"y", "z"});
  SetInt(m.Node("Softmax", {"x"}, {"w"}), "axis", 1);
  for (const char* name : {"y", "z", "w"}) m.Output(name);
  double all = 0;
  for (double x : kX) all += std::exp(x);
  std::vector<double> expected;
  for (double x : kX) expected.push_back(std::exp(x) / all);
  for (int i = 0; i < 6; ++i) {
    const int row = i / 3 * 3;
    expected.push_back(std::exp(kX[i]) /
                       (std::exp(kX[row]) + std::exp(kX[row + 1]) + std::exp(kX[row + 2])));
  }
  for (int i = 0; i < 6; ++i) {
    expected.push_back(std::exp(kX[i]) / (std::exp(kX[i]) + std::exp(kX[(i + 3) % 6])));
  }
  ExpectValues(OutputValues(m, {Floats({1, 2, 3}, kX)}), expected);
}

// then: x * k, where k is the function's constant; else: exp of a call inside of the branch.
ModelBuilder BranchingFunction() {
  ModelBuilder m = Empty();
  AddAct(m);
  m.Floats("t", {}, {100});  // the name of a value in the branch and in a function
  FunctionBuilder f = AddFunction(m, "choose", {"c", "a"}, {"r"}).Opset(17).Opset(1, "local");
  SetFloat(f.Node("Constant", {}, {"k"}), "value_float", 3);
  onnx::NodeProto& branch = f.Node("If", {"c"}, {"r"});
  for (const char* name : {"then_branch", "else_branch"}) {
    onnx::GraphProto& g = *AddAttribute(branch, name, onnx::AttributeProto::GRAPH).mutable_g();
    onnx::NodeProto& node = *g.add_node();
    const bool then = name[0] == 't';
    node.set_op_type(then ? "Mul" : "act");
    if (!then) node.set_domain("local");
    node.add_input("a");
    if (then) node.add_input("k");
    node.add_output("t");
    g.add_output()->set_name("t");
  }
  auto& condition = m.Input("c", {});
  condition.mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::BOOL);
  Call(m, "choose", {"c", "x"}, {"y"}, "call");
  m.Node("Add", {"y", "t"}, {"z"});
  m.Output("z");
  return m;
}

TEST(OnnxFunctions, SubgraphsReadTheFunctionsValues) {
  const ModelBuilder m = BranchingFunction();
  for (const bool when : {true, false}) {
    const uint8_t byte = when ? 1 : 0;
    const ir::Tensor condition = ir::Tensor::FromValues<uint8_t>(DType::kBool, {}, {{byte}});
    std::vector<double> expected;
    for (double x : kX) expected.push_back((when ? 3 * x : Act(x, 0.5)) + 100);
    ExpectValues(OutputValues(m, {Floats({2, 3}, kX), condition}), expected);
    ExpectValues(OutputValues(m, {Floats({2, 3}, kX)}, {{"c", condition}}), expected);
  }
}

TEST(OnnxFunctions, NamesOfTheModelStayTheirs) {
  ModelBuilder m = Empty();
  AddAct(m);
  m.Node("Exp", {"x"}, {"call/t"});  // what the function's value would be called
  Call(m, "act", {"x"}, {"y"}, "call");
  Call(m, "act", {"call/t"}, {"z"}, "call");
  m.Output("y");
  m.Output("z");
  std::vector<double> expected;
  for (double x : kX) expected.push_back(Act(x, 0.5));
  for (double x : kX) expected.push_back(2 * std::exp(x));
  const std::vector<double> found = OutputValues(m, {Floats({2, 3}, kX)});
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-4) << i;
}

TEST(OnnxFunctions, ResultsMayBeInputsOrEachOther) {
  ModelBuilder m = Empty();
  FunctionBuilder f = AddFunction(m, "f", {"a"}, {"a", "r", "r"}).Opset(17);
  f.Node("Neg", {"a"}, {"r"});
  Call(m, "f", {"x"}, {"y", "z", "w"});
  for (const char* name : {"y", "z", "w"}) m.Output(name);
  std::vector<double> expected(kX.begin(), kX.end());
  for (int i = 0; i < 12; ++i) expected.push_back(-kX[i % 6]);
  ExpectValues(OutputValues(m, {Floats({2, 3}, kX)}), expected);
}

TEST(OnnxFunctions, OverloadsTellFunctionsApart) {
  ModelBuilder m = Empty();
  for (const char* op : {"Neg", "Abs"}) {
    FunctionBuilder f = AddFunction(m, "f", {"a"}, {"r"}).Opset(17);
    f.Node(op, {"a"}, {"r"});
    f.LaterField(13, op);
  }
  Call(m, "f", {"x"}, {"y"})
      .mutable_unknown_fields()
      ->append(
          "\x42\x03"
          "Abs");
  m.Output("y");
  ExpectValues(OutputValues(m, {Floats({2, 3}, kX)}), {2, 1, 0, 1, 2, 3});
}

TEST(OnnxFunctions, AFunctionStandsBeforeAnOpOfItsName) {
  ModelBuilder m = Empty();
  FunctionBuilder f = AddFunction(m, "Relu", {"a"}, {"r"}).Opset(17);
  f.proto.set_domain("ai.onnx");
  f.Node("Neg", {"a"}, {"r"});
  m.Node("Relu", {"x"}, {"y"});
  m.Output("y");
  ExpectValues(OutputValues(m, {Floats({2, 3}, kX)}), {2, 1, 0, -1, -2, -3});
}

TEST(OnnxFunctions, CallsThatDoNotFit) {
  const auto call = [](const Names& inputs, const Names& outputs) {
    ModelBuilder m = Empty();
    AddAct(m);
    Call(m, "act", inputs, outputs, "call");
    m.Output("x");
    return m;
  };
  ExpectRefused(
      call({"x", "x"}, {"y"}), Code::kBadModel,
      "call \"call\" of function \"act\": has 2 inputs and 1 outputs, the function 1 and 1");
  ExpectRefused(call({"x"}, {"y", "z"}), Code::kBadModel, "has 1 inputs and 2 outputs");
  ExpectRefused(call({}, {"y"}), Code::kBadModel, "has 0 inputs, expected 1");
  ExpectRefused(call({"nothing"}, {"y"}), Code::kBadModel, "reads \"nothing\"");
}

TEST(OnnxFunctions, BodiesThatAreMalformed) {
  const auto model = [](const std::function<void(FunctionBuilder&)>& fill) {
    ModelBuilder m = Empty();
    FunctionBuilder f = AddFunction(m, "f", {"a"}, {"r"});
    fill(f);
    SetFloat(Call(m, "f", {"x"}, {"y"}, "call"), "slope", 1);
    m.Output("y");
    return m;
  };
  const auto neg = [](FunctionBuilder& f, const char* in, const char* out) {
    f.Node("Neg", {in}, {out});
  };
  ExpectRefused(model([&](auto& f) { neg(f, "a", "r"); }), Code::kBadModel,
                "imports no version of the ONNX operators");
  ExpectRefused(model([&](auto& f) { neg(f.Opset(99), "a", "r"); }), Code::kUnsupported,
                "opset 99");
  ExpectRefused(model([&](auto& f) { neg(f.Opset(17), "x", "r"); }), Code::kBadModel,
                "reads \"x\", which nothing before it in the function makes");
  ExpectRefused(model([&](auto& f) { neg(f.Opset(17), "a", "t"); }), Code::kBadModel,
                "does not make its output \"r\"");
  ExpectRefused(model([&](auto& f) { neg(f.Opset(17), "a", "a"); }), Code::kBadModel,
                "makes \"a\" again");
  ExpectRefused(model([&](auto& f) { f.Opset(17).proto.add_input("a"); }), Code::kBadModel,
                "has two inputs \"a\"");
  ExpectRefused(model([&](auto& f) {
                  neg(f.Opset(17), "a", "r");
                  f.LaterField(11, "\xff");
                }),
                Code::kBadModel, "malformed default");
  // The attribute of the call has another kind than the op's.
  ExpectRefused(model([&](auto& f) {
                  Refer(f.Opset(17).Node("Softmax", {"a"}, {"r"}), "axis", "slope",
                        onnx::AttributeProto::INT);
                }),
                Code::kBadModel, "is a float, expected an int");
}

TEST(OnnxFunctions, SubgraphsAsArgumentsAreRefused) {
  ModelBuilder m = Empty();
  FunctionBuilder f = AddFunction(m, "f", {"a"}, {"r"}).Opset(17);
  Refer(f.Node("If", {"a"}, {"r"}), "then_branch", "body", onnx::AttributeProto::GRAPH);
  AddAttribute(Call(m, "f", {"x"}, {"y"}), "body", onnx::AttributeProto::GRAPH).mutable_g();
  m.Output("y");
  ExpectRefused(m, Code::kUnsupported, "passes a subgraph to a function");
}

// A21: short functions that copy a long attribute, or spread a long name, over and over.
TEST(OnnxFunctions, WhatCallsCopyIsBounded) {
  for (const bool name : {false, true}) {
    ModelBuilder m = Empty();
    FunctionBuilder f = AddFunction(m, "f", {"a"}, {"r"}).Opset(17);
    for (int i = 0; i < 300; ++i) {
      onnx::NodeProto& node = f.Node("Constant", {}, {StrCat("c", i)});
      Refer(node, "value_string", "text", onnx::AttributeProto::STRING);
    }
    f.Node("Neg", {"a"}, {"r"});
    const std::string long_text(1 << 20, 'x');
    onnx::NodeProto& call = Call(m, "f", {"x"}, {"y"}, name ? long_text : "call");
    if (!name) testing::SetString(call, "text", long_text);
    m.Output("y");
    ExpectRefused(m, Code::kResource, "bytes");
  }
}

// B10: a function's constants come through the same door as the model's.
TEST(OnnxFunctions, ExternalDataInAFunctionIsConfined) {
  ModelBuilder m = Empty();
  FunctionBuilder f = AddFunction(m, "f", {"a"}, {"r"}).Opset(17);
  onnx::NodeProto& constant = f.Node("Constant", {}, {"r"});
  onnx::TensorProto& t = *AddAttribute(constant, "value", onnx::AttributeProto::TENSOR).mutable_t();
  t.set_data_type(onnx::TensorProto::FLOAT);
  t.add_dims(1);
  t.set_data_location(onnx::TensorProto::EXTERNAL);
  auto& entry = *t.add_external_data();
  entry.set_key("location");
  entry.set_value("../../etc/passwd");
  Call(m, "f", {"x"}, {"y"});
  m.Output("y");
  ExpectRefused(m, Code::kBadModel, "location");
}

}  // namespace
}  // namespace aicf
