// Malformed and unsupported models: each with its class and a message that names the culprit.
#include <gtest/gtest.h>

#include <functional>

#include "compiler/import/testing.h"

namespace aicf {
namespace {

using testing::ModelBuilder;
using testing::ReluModel;
using testing::SetInt;
using testing::SetInts;
using testing::SetString;

struct Fault {
  const char* name;
  std::function<void(ModelBuilder&)> damage;
  Code code;
  const char* expected;
};

void Check(std::initializer_list<Fault> faults) {
  for (const Fault& f : faults) {
    ModelBuilder model = ReluModel();
    f.damage(model);
    const auto graph = model.Import();
    ASSERT_FALSE(graph.ok()) << f.name;
    EXPECT_EQ(graph.status().code(), f.code) << f.name << ": " << graph.status().ToString();
    EXPECT_NE(graph.status().message().find(f.expected), std::string::npos)
        << f.name << ": " << graph.status().message();
    for (char c : graph.status().message())
      EXPECT_GE(static_cast<unsigned char>(c), 0x20) << f.name;
  }
}

onnx::NodeProto& Relu(ModelBuilder& m) { return *m.graph().mutable_node(0); }
onnx::TypeProto::Tensor& InputType(ModelBuilder& m) {
  return *m.graph().mutable_input(0)->mutable_type()->mutable_tensor_type();
}

TEST(OnnxFaults, TheModelThatTheCasesDamageIsGood) { EXPECT_TRUE(ReluModel().Import().ok()); }

TEST(OnnxFaults, WholeModel) {
  const auto opset = [](int64_t v) {
    return [v](ModelBuilder& m) { m.proto().mutable_opset_import(0)->set_version(v); };
  };
  Check({
      {"A1 no graph", [](auto& m) { m.proto().clear_graph(); }, Code::kBadModel, "has no graph"},
      {"A3 outputs cut off", [](auto& m) { m.graph().clear_output(); }, Code::kBadModel,
       "no outputs"},
      {"A19 opset 0", opset(0), Code::kUnsupported, "opset 0 of the ONNX operators, expected 1 to"},
      {"A19 opset 2^31", opset(int64_t{1} << 31), Code::kUnsupported, "opset 2147483648"},
      {"A19 opset -1", opset(-1), Code::kUnsupported, "opset -1"},
      {"A19 opset absent", [](auto& m) { m.proto().clear_opset_import(); }, Code::kUnsupported,
       "names no version"},
      {"only another domain",
       [](auto& m) { m.proto().mutable_opset_import(0)->set_domain("ai.onnx.ml"); },
       Code::kUnsupported, "names no version"},
      {"a domain twice",
       [](auto& m) {
         m.proto().add_opset_import()->set_domain("ai.onnx");
         m.proto().mutable_opset_import(1)->set_version(3);
       },
       Code::kBadModel, "twice"},
  });
}

void AddFunction(ModelBuilder& m, const std::string& name, const std::string& callee) {
  onnx::FunctionProto& f = *m.proto().add_functions();
  f.set_name(name);
  f.set_domain("local");
  onnx::NodeProto& node = *f.add_node();
  node.set_op_type(callee);
  node.set_domain("local");
}

TEST(OnnxFaults, Functions) {
  Check({
      {"A7 recursion",
       [](auto& m) {
         AddFunction(m, "f", "g");
         AddFunction(m, "g", "f");
       },
       Code::kBadModel, "function \"f\" calls itself"},
      {"A7 self call", [](auto& m) { AddFunction(m, "f", "f"); }, Code::kBadModel, "calls itself"},
      {"A6 chain of 3000",
       [](auto& m) {
         for (int i = 0; i < 3000; ++i) AddFunction(m, StrCat("f", i), StrCat("f", i + 1));
       },
       Code::kBadModel, "at most 100"},
      {"A7 through a subgraph",
       [](auto& m) {
         AddFunction(m, "f", "g");
         AddFunction(m, "g", "h");
         auto& a = testing::AddAttribute(*m.proto().mutable_functions(1)->mutable_node(0), "body",
                                         onnx::AttributeProto::GRAPH);
         *a.mutable_g()->add_node() = m.proto().functions(0).node(0);
       },
       Code::kBadModel, "calls itself"},
      {"A21 a hundred levels that double",
       [](auto& m) {
         for (int i = 0; i < 99; ++i) {
           AddFunction(m, StrCat("f", i), StrCat("f", i + 1));
           *m.proto().mutable_functions(i)->add_node() = m.proto().functions(i).node(0);
         }
         Relu(m).set_domain("local");
         Relu(m).set_op_type("f0");
       },
       Code::kResource, "once their calls are inlined"},
      {"a call of no function",
       [](auto& m) {
         AddFunction(m, "f", "Relu");
         Relu(m).set_domain("local");
         Relu(m).set_op_type("g");
       },
       Code::kUnsupported, "op \"g\" of domain \"local\" is not supported"},
      {"one name twice",
       [](auto& m) {
         AddFunction(m, "f", "Relu");
         AddFunction(m, "f", "Exp");
       },
       Code::kBadModel, "function \"f\" of domain \"local\" is defined twice"},
  });
}

TEST(OnnxFaults, Names) {
  Check({
      {"A12 output produced twice", [](auto& m) { m.Node("Exp", {"x"}, {"y"}, "exp"); },
       Code::kBadModel, "value \"y\" is produced by node \"relu\" and by node \"exp\""},
      {"A12 output is an input", [](auto& m) { m.Node("Exp", {"x"}, {"x"}); }, Code::kBadModel,
       "\"x\" is given to two values"},
      {"A12 output is an initializer",
       [](auto& m) {
         m.Floats("w", {1}, {1});
         m.Node("Exp", {"x"}, {"w"});
       },
       Code::kBadModel, "\"w\" is given to two"},
      {"A12 input twice", [](auto& m) { m.Input("x", {2}); }, Code::kBadModel,
       "\"x\" is given to two"},
      {"A12 initializer twice",
       [](auto& m) {
         m.Floats("w", {1}, {1});
         m.Floats("w", {1}, {1});
       },
       Code::kBadModel, "\"w\" is given to two"},
      {"A12 use before definition",
       [](auto& m) {
         Relu(m).set_input(0, "later");
         m.Node("Exp", {"x"}, {"later"}, "exp");
       },
       Code::kBadModel, "\"relu\": reads \"later\" before node \"exp\" produces it"},
      {"A12 self-loop", [](auto& m) { Relu(m).set_input(0, "y"); }, Code::kBadModel,
       "reads its own output \"y\""},
      {"A12 cycle",
       [](auto& m) {
         Relu(m).set_input(0, "b");
         m.Node("Exp", {"y"}, {"b"}, "exp");
       },
       Code::kBadModel, "before node \"exp\""},
      {"A12 nothing produces it", [](auto& m) { Relu(m).set_input(0, "z"); }, Code::kBadModel,
       "reads \"z\", which nothing produces"},
      {"A12 output never produced", [](auto& m) { m.Output("z"); }, Code::kBadModel,
       "output \"z\" is produced by nothing"},
      {"output twice", [](auto& m) { m.Output("y"); }, Code::kBadModel, "listed twice"},
      {"A20 control bytes", [](auto& m) { Relu(m).set_input(0, "\x1b[31m\n"); }, Code::kBadModel,
       "reads \"\\x1b[31m\\n\""},
      {"A20 NUL", [](auto& m) { Relu(m).set_input(0, std::string("a\0b", 3)); }, Code::kBadModel,
       "\"a\\x00b\""},
      {"unnamed initializer", [](auto& m) { m.Floats("", {1}, {1}); }, Code::kBadModel,
       "an initializer has no name"},
      {"unnamed input", [](auto& m) { m.Input("", {1}); }, Code::kBadModel, "has no name"},
  });
}

TEST(OnnxFaults, Nodes) {
  Check({
      {"A14 no inputs", [](auto& m) { Relu(m).clear_input(); }, Code::kBadModel,
       "has 0 inputs, expected 1"},
      {"A14 absent input", [](auto& m) { Relu(m).set_input(0, ""); }, Code::kBadModel,
       "has 0 inputs"},
      {"A14 absent first of two",
       [](auto& m) {
         m.Node("Add", {"", "x"}, {"z"});
       },
       Code::kBadModel, "input 0 is absent"},
      {"too many inputs", [](auto& m) { Relu(m).add_input("x"); }, Code::kBadModel,
       "has 2 inputs, expected 1"},
      {"no outputs", [](auto& m) { m.Node("Exp", {"x"}, {}); }, Code::kBadModel, "has no outputs"},
      {"only absent outputs", [](auto& m) { m.Node("Exp", {"x"}, {""}); }, Code::kBadModel,
       "has no outputs"},
      {"A19 unknown op", [](auto& m) { Relu(m).set_op_type("Frob"); }, Code::kUnsupported,
       "\"Frob\" node \"relu\": the op is not supported"},
      {"A19 empty op", [](auto& m) { Relu(m).set_op_type(""); }, Code::kUnsupported,
       "not supported"},
      {"A19 unknown domain", [](auto& m) { Relu(m).set_domain("com.microsoft"); },
       Code::kUnsupported, "domain \"com.microsoft\""},
      {"a branch is missing", [](auto& m) { m.Node("If", {"x"}, {"z"}, "branch"); },
       Code::kBadModel, "\"If\" node \"branch\": has no then_branch"},
      {"a body is missing", [](auto& m) { m.Node("Loop", {"x"}, {"z"}, "loop"); }, Code::kBadModel,
       "has no body"},
      {"A19 excluded op", [](auto& m) { m.Node("RandomNormal", {}, {"z"}, "noise"); },
       Code::kUnsupported, "draws random numbers"},
  });
}

TEST(OnnxFaults, AllUnsupportedNodesAreListed) {
  ModelBuilder model = ReluModel();
  model.Node("Frob", {"x"}, {"a"}, "one");
  model.Node("Exp", {"a"}, {"b"}, "fine");
  model.Node("Warp", {"b"}, {"c"}, "two");
  SetInt(model.Node("BatchNormalization", {"x", "b", "b", "b", "b"}, {"d"}, "three"), "spatial", 0);
  const auto graph = model.Import();
  ASSERT_EQ(graph.status().code(), Code::kUnsupported);
  EXPECT_EQ(graph.status().message(),
            "3 nodes are not supported: \"Frob\" node \"one\": the op is not supported; \"Warp\" "
            "node \"two\": the op is not supported; \"BatchNormalization\" node \"three\": "
            "statistics per element (spatial is 0)");
}

TEST(OnnxFaults, ALongListOfUnsupportedNodesIsCut) {
  ModelBuilder model = ReluModel();
  for (int i = 0; i < 1000; ++i) model.Node("Frob", {"x"}, {StrCat("v", i)});
  const auto graph = model.Import();
  ASSERT_EQ(graph.status().code(), Code::kUnsupported);
  EXPECT_NE(graph.status().message().find("1000 nodes"), std::string::npos);
  EXPECT_NE(graph.status().message().find("and 900 more"), std::string::npos);
}

TEST(OnnxFaults, Attributes) {
  using onnx::AttributeProto;
  const auto transpose = [](const std::function<void(onnx::NodeProto&)>& set) {
    return [set](ModelBuilder& m) { set(m.Node("Transpose", {"x"}, {"t"}, "t")); };
  };
  Check({
      {"unknown", [](auto& m) { SetInt(Relu(m), "axis", 1); }, Code::kUnsupported,
       "attribute \"axis\": is not an attribute of Relu"},
      {"wrong kind", transpose([](auto& n) { SetInt(n, "perm", 1); }), Code::kBadModel,
       "attribute \"perm\": is an int, expected ints"},
      {"twice", transpose([](auto& n) {
         SetInts(n, "perm", {1, 0});
         SetInts(n, "perm", {0, 1});
       }),
       Code::kBadModel, "given twice"},
      {"declared otherwise", transpose([](auto& n) {
         testing::AddAttribute(n, "perm", AttributeProto::INTS).set_s("10");
       }),
       Code::kBadModel, "declared as ints but holds another"},
      {"empty and undeclared", transpose([](auto& n) { n.add_attribute()->set_name("perm"); }),
       Code::kBadModel, "holds no value"},
      {"two kinds, undeclared", transpose([](auto& n) {
         auto& a = *n.add_attribute();
         a.set_name("perm");
         a.add_ints(0);
         a.set_i(1);
       }),
       Code::kBadModel, "no value of a known kind"},
      {"reference outside a function", transpose([](auto& n) {
         auto& a = testing::AddAttribute(n, "perm", AttributeProto::INTS);
         a.set_ref_attr_name("p");
       }),
       Code::kBadModel, "refers to a function"},
      {"unknown kind", transpose([](auto& n) {
         testing::AddAttribute(n, "perm", AttributeProto::GRAPH).mutable_g();
       }),
       Code::kBadModel, "is a graph, expected ints"},
      {"tensor inside is bad",
       [](auto& m) {
         onnx::TensorProto& t =
             *testing::AddAttribute(m.Node("Constant", {}, {"c"}), "value", AttributeProto::TENSOR)
                  .mutable_t();
         t.set_data_type(onnx::TensorProto::FLOAT);
         t.add_dims(3);
       },
       Code::kBadModel, "attribute \"value\": has 0 values for shape 3"},
  });
}

TEST(OnnxFaults, UndeclaredKindsOfOldFilesAreRead) {
  ModelBuilder model = ReluModel();
  onnx::AttributeProto& a = *model.Node("Transpose", {"x"}, {"t"}).add_attribute();
  a.set_name("perm");
  a.add_ints(1);
  a.add_ints(0);
  const auto graph = model.Import();
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_EQ(graph->nodes[1].Ints("perm"), (std::vector<int64_t>{1, 0}));
}

// What some converters write for an extent that is open, against the standard.
TEST(OnnxFaults, MinusOneAndAQuestionMarkAreOpenExtents) {
  ModelBuilder model = ReluModel();
  onnx::TensorShapeProto& shape = *InputType(model).mutable_shape();
  shape.clear_dim();
  shape.add_dim()->set_dim_value(-1);
  shape.add_dim()->set_dim_param("?");
  shape.add_dim()->set_dim_param("?");
  const auto graph = model.Import();
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  const ir::Value& x = graph->values[graph->inputs[0]];
  EXPECT_EQ(x.shape, (Dims{-1, -1, -1}));
  EXPECT_EQ(x.symbols, (std::vector<std::string>{"", "", ""})) << "not one extent";
  EXPECT_FALSE(x.shape_known);
}

TEST(OnnxFaults, Inputs) {
  const auto extent = [](int64_t e) {
    return [e](ModelBuilder& m) { InputType(m).mutable_shape()->mutable_dim(0)->set_dim_value(e); };
  };
  Check({
      {"A9 extent -2", extent(-2), Code::kBadModel, "input \"x\": has the extent -2"},
      {"A9 extent INT64_MIN", extent(INT64_MIN), Code::kBadModel,
       "has the extent -9223372036854775808"},
      {"A8 extents overflow", extent(INT64_MAX), Code::kBadModel, "impossible shape"},
      {"A11 strings", [](auto& m) { InputType(m).set_elem_type(8); }, Code::kUnsupported,
       "element type STRING"},
      {"A11 complex", [](auto& m) { InputType(m).set_elem_type(14); }, Code::kUnsupported,
       "element type COMPLEX64"},
      {"A11 undefined", [](auto& m) { InputType(m).set_elem_type(0); }, Code::kUnsupported,
       "element type UNDEFINED"},
      {"A11 unknown", [](auto& m) { InputType(m).set_elem_type(999); }, Code::kUnsupported,
       "element type 999"},
      {"A11 complex128", [](auto& m) { InputType(m).set_elem_type(15); }, Code::kUnsupported,
       "element type COMPLEX128"},
      {"no type", [](auto& m) { m.graph().mutable_input(0)->clear_type(); }, Code::kBadModel,
       "has no type"},
      {"sequence",
       [](auto& m) { m.graph().mutable_input(0)->mutable_type()->mutable_sequence_type(); },
       Code::kUnsupported, "not a tensor"},
      {"rank 9",
       [](auto& m) {
         for (int i = 0; i < 7; ++i) InputType(m).mutable_shape()->add_dim()->set_dim_value(1);
       },
       Code::kUnsupported, "rank 9"},
      {"A13 initialized with another dtype",
       [](auto& m) {
         m.Ints("x", {2, 3}, {1, 2, 3, 4, 5, 6});
       },
       Code::kBadModel, "declared as f32 [2, 3] but initialized as i64 [2, 3]"},
      {"A13 initialized with another shape",
       [](auto& m) {
         m.Floats("x", {3}, {1, 2, 3});
       },
       Code::kBadModel, "declared as f32 [2, 3] but initialized as f32 [3]"},
  });
}

TEST(OnnxFaults, LongChainsStayWithinBudget) {
  ModelBuilder model(17);
  model.Input("v0", {1});
  for (int i = 0; i < 50000; ++i) model.Node("Relu", {StrCat("v", i)}, {StrCat("v", i + 1)});
  model.Output("v50000");
  const auto graph = model.Import();
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_EQ(graph->nodes.size(), 50000u);
}

}  // namespace
}  // namespace aicf
