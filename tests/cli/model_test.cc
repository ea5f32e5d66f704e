/// Bad ONNX models (faults A and B) given to aicf-compile: the exit code, the error line, and that
/// there is no output.
#include <gtest/gtest.h>

#include <climits>
#include <functional>

#include "tests/cli/tiny_models.h"
#include "tests/cli/tool.h"

namespace aicf::testing {
namespace {

using Change = std::function<void(onnx::ModelProto&)>;

struct BadModel {
  const char* what;
  int exit_code;
  std::string part;  ///< of the message
  Change change;
};

onnx::TensorProto* Weights(onnx::ModelProto& m) {
  return m.mutable_graph()->mutable_initializer(0);
}
onnx::NodeProto* Node(onnx::ModelProto& m, int i) { return m.mutable_graph()->mutable_node(i); }

void SetDims(onnx::TensorProto* tensor, const std::vector<int64_t>& dims) {
  tensor->clear_dims();
  for (const int64_t d : dims) tensor->add_dims(d);
}

void SetExternal(onnx::ModelProto& m, const std::string& location, const std::string& offset = "0",
                 const std::string& length = "48") {
  onnx::TensorProto* w = Weights(m);
  w->clear_raw_data();
  w->set_data_location(onnx::TensorProto::EXTERNAL);
  for (const auto& [key, value] : {std::pair<std::string, std::string>{"location", location},
                                   {"offset", offset},
                                   {"length", length}}) {
    auto* entry = w->add_external_data();
    entry->set_key(key);
    entry->set_value(value);
  }
}

onnx::AttributeProto* AddAttribute(onnx::NodeProto* node, const std::string& name,
                                   onnx::AttributeProto::AttributeType type) {
  onnx::AttributeProto* a = node->add_attribute();
  a->set_name(name);
  a->set_type(type);
  return a;
}

/// Replaces node 2 (Relu) by another op with one integer-list attribute.
void ReplaceRelu(onnx::ModelProto& m, const std::string& op, const std::string& attribute,
                 const std::vector<int64_t>& values) {
  Node(m, 2)->set_op_type(op);
  auto* a = AddAttribute(Node(m, 2), attribute, onnx::AttributeProto::INTS);
  for (const int64_t v : values) a->add_ints(v);
}

std::vector<BadModel> BadTensors() {
  return {
      {"A8 a product that wraps to zero", 3, "w",
       [](auto& m) {
         SetDims(Weights(m), {int64_t{1} << 32, int64_t{1} << 32});
       }},
      {"A8 a product that overflows", 3, "w",
       [](auto& m) {
         SetDims(Weights(m), {int64_t{1} << 62, 8});
       }},
      {"A9 a negative extent", 3, "w",
       [](auto& m) {
         SetDims(Weights(m), {-4, 3});
       }},
      {"A9 the smallest extent", 3, "w",
       [](auto& m) {
         SetDims(Weights(m), {INT64_MIN, 3});
       }},
      {"A10 too few bytes", 3, "w", [](auto& m) { Weights(m)->mutable_raw_data()->resize(47); }},
      {"A10 too many bytes", 3, "w", [](auto& m) { Weights(m)->mutable_raw_data()->resize(49); }},
      {"A10 raw and typed data", 3, "w", [](auto& m) { Weights(m)->add_float_data(1); }},
      {"A11 dtype 0", 4, "w", [](auto& m) { Weights(m)->set_data_type(0); }},
      {"A11 dtype 999", 4, "999", [](auto& m) { Weights(m)->set_data_type(999); }},
      {"A11 strings", 4, "w",
       [](auto& m) { Weights(m)->set_data_type(onnx::TensorProto::STRING); }},
      {"A11 complex numbers", 4, "w",
       [](auto& m) { Weights(m)->set_data_type(onnx::TensorProto::COMPLEX64); }},
      {"B1 data outside the directory", 3, "w", [](auto& m) { SetExternal(m, "../weights.bin"); }},
      {"B1 data outside by a detour", 3, "w",
       [](auto& m) { SetExternal(m, "a/..//../weights.bin"); }},
      {"B2 an absolute path", 3, "w", [](auto& m) { SetExternal(m, "/etc/passwd"); }},
      {"B2 an empty path", 3, "w", [](auto& m) { SetExternal(m, ""); }},
      {"B7 a negative offset", 3, "w", [](auto& m) { SetExternal(m, "weights.bin", "-1"); }},
      {"B7 an offset that is no number", 3, "w",
       [](auto& m) { SetExternal(m, "weights.bin", "4x"); }},
      {"B7 a length that wraps", 3, "w",
       [](auto& m) { SetExternal(m, "weights.bin", "16", "18446744073709551600"); }},
      {"B9 a memory address in disguise is a file that is not there", 8, "_ORT_MEM_ADDR_",
       [](auto& m) { SetExternal(m, "*/_ORT_MEM_ADDR_/*", "140737488355328"); }},
  };
}

std::vector<BadModel> BadGraphs() {
  return {
      {"A1 no graph", 3, "graph", [](auto& m) { m.clear_graph(); }},
      {"A9 an extent without a value", 4, "--shapes",
       [](auto& m) {
         auto* type = m.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type();
         type->mutable_shape()->mutable_dim(0)->set_dim_param("batch");
       }},
      {"A12 a value produced twice", 3, "biased",
       [](auto& m) { Node(m, 2)->set_output(0, "biased"); }},
      {"A12 use before definition", 3, "",
       [](auto& m) { m.mutable_graph()->mutable_node()->SwapElements(0, 1); }},
      {"A12 a node that feeds itself", 3, "active",
       [](auto& m) { Node(m, 2)->set_input(0, "active"); }},
      {"A12 an output that nobody makes", 3, "ghost",
       [](auto& m) { m.mutable_graph()->mutable_output(0)->set_name("ghost"); }},
      {"A14 no inputs where one is required", 3, "node_active",
       [](auto& m) { Node(m, 2)->clear_input(); }},
      {"A15 axis equal to the rank", 3, "node_y",
       [](auto& m) { AddAttribute(Node(m, 3), "axis", onnx::AttributeProto::INT)->set_i(2); }},
      {"A15 the smallest axis", 3, "node_y",
       [](auto& m) {
         AddAttribute(Node(m, 3), "axis", onnx::AttributeProto::INT)->set_i(INT64_MIN);
       }},
      {"A15 a permutation that repeats", 3, "node_active",
       [](auto& m) {
         ReplaceRelu(m, "Transpose", "perm", {0, 0});
       }},
      {"A16 a pool of extent zero", 3, "node_active",
       [](auto& m) { ReplaceRelu(m, "MaxPool", "kernel_shape", {0}); }},
      {"A19 no opset", 4, "opset", [](auto& m) { m.clear_opset_import(); }},
      {"A19 opset 0", 4, "opset", [](auto& m) { m.mutable_opset_import(0)->set_version(0); }},
      {"A19 an opset from the future", 4, "opset",
       [](auto& m) { m.mutable_opset_import(0)->set_version(int64_t{1} << 31); }},
      {"A19 an unknown operator", 4, "Frobnicate",
       [](auto& m) { Node(m, 2)->set_op_type("Frobnicate"); }},
      {"A19 an unknown domain", 4, "com.example",
       [](auto& m) { Node(m, 2)->set_domain("com.example"); }},
      {"shapes that do not multiply", 3, "node_product",
       [](auto& m) {
         SetDims(Weights(m), {3, 4});
       }},
      {"shapes that do not broadcast", 3, "node_biased",
       [](auto& m) {
         auto* b = m.mutable_graph()->mutable_initializer(1);
         SetDims(b, {2});
         b->mutable_raw_data()->resize(8);
       }},
  };
}

void ExpectRefused(const BadModel& bad) {
  SCOPED_TRACE(bad.what);
  TempDir dir;
  const std::string model = PutModel(dir, "bad", bad.change);
  const ToolResult r = RunTool("aicf-compile", {model, "-o", dir / "out.aicf"});
  ExpectFailure("aicf-compile", r, bad.exit_code, bad.part);
  EXPECT_EQ(r.out, "");
  EXPECT_EQ(dir.Entries(), std::vector<std::string>{"bad.onnx"});
}

TEST(Models, BadTensorsAreRefused) {
  for (const BadModel& bad : BadTensors()) ExpectRefused(bad);
}

TEST(Models, BadGraphsAreRefused) {
  for (const BadModel& bad : BadGraphs()) ExpectRefused(bad);
}

TEST(Models, FilesOfOtherKindsAreRefused) {
  const std::pair<const char*, std::string> files[] = {
      {"empty", ""},
      {"PNG", std::string("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16)},
      {"ELF", std::string("\x7f"
                          "ELF\2\1\1\0\0\0\0\0\0\0\0\0",
                          16)},
      {"gzip", std::string("\x1f\x8b\x08\0\0\0\0\0\0\3", 10)},
      {"text", "this is not a model\n"},
      {"zeros", std::string(4096, '\0')},
      {"ones", std::string(4096, '\xff')},
  };
  for (const auto& [what, bytes] : files) {
    SCOPED_TRACE(what);
    TempDir dir;
    PutFile(dir / "m.onnx", bytes);
    const ToolResult r = RunTool("aicf-compile", {dir / "m.onnx", "-o", dir / "o.aicf"});
    ExpectFailure("aicf-compile", r, 3, "m.onnx");
    EXPECT_EQ(dir.Entries(), std::vector<std::string>{"m.onnx"});
  }
}

TEST(Models, ATruncatedModelIsNeverASmallerOne) {
  TempDir dir;
  const std::string whole = Serialized(TinyModel());
  for (size_t n = 0; n < whole.size(); n += 13) {
    PutFile(dir / "m.onnx", whole.substr(0, n));
    const ToolResult r = RunTool("aicf-compile", {dir / "m.onnx", "-o", dir / "o.aicf"});
    // 4: the cut fell between the graph and the opset, which protobuf writes after it.
    EXPECT_TRUE(r.exit_code == 3 || r.exit_code == 4) << "cut after " << n << " bytes: " << r.err;
  }
  EXPECT_EQ(dir.Entries(), std::vector<std::string>{"m.onnx"});
}

TEST(Models, CheckListsEveryUnsupportedOperatorAtOnce) {
  TempDir dir;
  const std::string model = PutModel(dir, "m", [](onnx::ModelProto& m) {
    Node(m, 2)->set_op_type("Frobnicate");
    Node(m, 5)->set_op_type("Transmogrify");
  });
  const ToolResult r = RunTool("aicf-compile", {model, "--check"});
  EXPECT_EQ(r.exit_code, 4) << r.err;
  EXPECT_NE((r.out + r.err).find("Frobnicate"), std::string::npos) << r.out << r.err;
  EXPECT_NE((r.out + r.err).find("Transmogrify"), std::string::npos) << r.out << r.err;
  EXPECT_EQ(dir.Entries(), std::vector<std::string>{"m.onnx"});
}

TEST(Models, ControlBytesInNamesAreEscaped) {
  TempDir dir;
  const std::string model = PutModel(
      dir, "m", [](onnx::ModelProto& m) { Node(m, 2)->set_op_type("Evil\x1b[2J\nforged"); });
  const ToolResult r = RunTool("aicf-compile", {model, "-o", dir / "o.aicf"});
  ExpectFailure("aicf-compile", r, 4, "");
  EXPECT_EQ(r.err.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace aicf::testing
