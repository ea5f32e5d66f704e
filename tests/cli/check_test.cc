// --check on the command line: it prints a list, sets the exit code and writes nothing.
#include <gtest/gtest.h>

#include "tests/cli/tiny_models.h"

namespace aicf::testing {
namespace {

onnx::NodeProto* Add(onnx::ModelProto& m, const std::string& op, const std::string& input,
                     const std::string& output) {
  onnx::NodeProto* node = m.mutable_graph()->add_node();
  node->set_op_type(op);
  node->set_name("node_" + output);
  node->add_input(input);
  node->add_output(output);
  return node;
}

onnx::ValueInfoProto* AddInput(onnx::ModelProto& m, const std::string& name, int type,
                               const std::vector<std::string>& extents) {
  onnx::ValueInfoProto* info = m.mutable_graph()->add_input();
  info->set_name(name);
  auto* tensor = info->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(type);
  tensor->mutable_shape();
  for (const std::string& e : extents) tensor->mutable_shape()->add_dim()->set_dim_param(e);
  return info;
}

// Eight gaps of eight kinds beside TinyModel's own nodes.
void Damage(onnx::ModelProto& m) {
  AddInput(m, "text", onnx::TensorProto::STRING, {"n"});
  AddInput(m, "open", onnx::TensorProto::FLOAT, {"batch", ""});
  AddInput(m, "list", 0, {})->mutable_type()->mutable_sequence_type();
  AddInput(m, "sizes", onnx::TensorProto::INT64, {"rank"});
  onnx::TensorProto* complex = m.mutable_graph()->add_initializer();
  complex->set_name("complex");
  complex->set_data_type(onnx::TensorProto::COMPLEX64);
  Add(m, "Frob", "x", "frob");
  Add(m, "Frob", "open", "frob2");
  Add(m, "Tokenise", "text", "tokens")->set_domain("com.microsoft");
  onnx::AttributeProto* to = Add(m, "Cast", "x", "cast")->add_attribute();
  to->set_name("to");
  to->set_type(onnx::AttributeProto::INT);
  to->set_i(onnx::TensorProto::COMPLEX128);
  Add(m, "Reshape", "x", "reshaped")->add_input("sizes");
}

size_t Count(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(Check, EightGapsAreEightWithWhatHelps) {
  TempDir dir;
  const std::string model = PutModel(dir, "m", Damage);
  const ToolResult r = RunTool("aicf-compile", {model, "--check", "-o", dir / "never.aicf"});
  ExpectFailure("aicf-compile", r, 4, "8 gaps");
  EXPECT_EQ(Count(r.out, "    help: "), 8u) << r.out;
  for (const char* part :
       {"input \"text\": element type STRING", "input \"open\": extents 0 (\"batch\"), 1 are open",
        "--shapes=open:?x?", "input \"list\": is a sequence", "--bind=sizes:FILE.npy",
        "initializer \"complex\": element type COMPLEX64",
        "op Frob: ", "2 nodes: \"node_frob\", \"node_frob2\"",
        "op com.microsoft.Tokenise: ", "op Cast: element type COMPLEX128"}) {
    EXPECT_NE(r.out.find(part), std::string::npos) << part << " is missing in\n" << r.out;
  }
  EXPECT_EQ(dir.Entries(), std::vector<std::string>{"m.onnx"});
  EXPECT_EQ(RunTool("aicf-compile", {model, "--check"}).out, r.out);
}

TEST(Check, ExitCodes) {
  TempDir dir;
  const std::string good = PutModel(dir, "good");
  ExpectSuccess(RunTool("aicf-compile", {good, "--check"}));
  // No device code is compiled for it, and none cached.
  ExpectSuccess(RunTool("aicf-compile", {good, "--check", "--target=cuda:sm_90a",
                                         "--kernel-cache=" + (dir / "cache")}));
  EXPECT_EQ(dir.Entries(), std::vector<std::string>{"good.onnx"});
  const std::string bad =
      PutModel(dir, "bad", [](onnx::ModelProto& m) { Add(m, "Relu", "nothing", "relu"); });
  ExpectFailure("aicf-compile", RunTool("aicf-compile", {bad, "--check"}), 3, "reads \"nothing\"");
  const std::string damaged = PutModel(dir, "damaged", Damage);
  ExpectFailure("aicf-compile", RunTool("aicf-compile", {damaged, "--check", "--shapes=y:1"}), 2,
                "no input \"y\"");
  const std::string old =
      PutModel(dir, "old", [](onnx::ModelProto& m) { m.mutable_opset_import(0)->set_version(99); });
  const ToolResult opset = RunTool("aicf-compile", {old, "--check"});
  ExpectFailure("aicf-compile", opset, 4, "1 gap");
  EXPECT_NE(opset.out.find("the model: opset 99"), std::string::npos) << opset.out;
  ExpectFailure("aicf-compile", RunTool("aicf-compile", {dir / "none.onnx", "--check"}), 8, "none");
}

TEST(Check, NamesOfTheModelCannotForgeALine) {
  TempDir dir;
  const std::string model = PutModel(dir, "m", [](onnx::ModelProto& m) {
    Add(m, "Evil\x1b[2J\n  input \"x\"", "x", "a\nb")->set_domain("d\x1b");
  });
  const ToolResult r = RunTool("aicf-compile", {model, "--check"});
  ExpectFailure("aicf-compile", r, 4, "1 gap");
  EXPECT_EQ(r.out.find('\x1b'), std::string::npos) << r.out;
  EXPECT_EQ(Count(r.out, "\n  input"), 0u) << r.out;
}

}  // namespace
}  // namespace aicf::testing
