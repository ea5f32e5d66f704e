// Loops that cannot run as such: each is refused with the node's name and what would help.
#include <gtest/gtest.h>

#include "tests/loops/loop_model.h"

namespace aicf::loops {
namespace {

void ExpectRefused(const ModelBuilder& model, Code code, const std::vector<std::string>& pieces) {
  const auto compiled = Compile(model, "cpu");
  EXPECT_EQ(compiled.status().code(), code) << compiled.status().ToString();
  for (const std::string& piece : pieces) {
    EXPECT_NE(compiled.status().message().find(piece), std::string::npos)
        << piece << " in: " << compiled.status().message();
  }
}

TEST(LoopRefusals, ACarriedValueThatGrows) {
  ModelBuilder model;
  model.Input("n", {}, onnx::TensorProto::INT64);
  model.Input("x", {2});
  onnx::NodeProto& loop = model.Node("Loop", {"n", "", "x"}, {"y"}, "growing");
  onnx::GraphProto& body = AddBody(loop, "body", {"i", "go", "v"}, {"go", "longer"});
  testing::SetInt(AddNode(body, "Concat", {"v", "x"}, {"longer"}), "axis", 0);
  model.Output("y");
  ExpectRefused(model, Code::kUnsupported, {"growing", "\"longer\"", " 2 ", " 4", "--bind"});
}

TEST(LoopRefusals, ACarriedValueOfAnotherType) {
  ModelBuilder model;
  model.Input("n", {}, onnx::TensorProto::INT64);
  model.Input("x", {2});
  onnx::NodeProto& loop = model.Node("Loop", {"n", "", "x"}, {"y"}, "changing");
  onnx::GraphProto& body = AddBody(loop, "body", {"i", "go", "v"}, {"go", "other"});
  AddNode(body, "Greater", {"v", "x"}, {"other"});
  model.Output("y");
  ExpectRefused(model, Code::kBadModel, {"changing", "\"other\"", "f32", "bool"});
}

TEST(LoopRefusals, NothingThatEndsIt) {
  ModelBuilder model;
  model.Input("go", {}, onnx::TensorProto::BOOL);
  model.Input("x", {2});
  onnx::NodeProto& loop = model.Node("Loop", {"", "go", "x"}, {"y"}, "endless");
  onnx::GraphProto& body = AddBody(loop, "body", {"i", "g", "v"}, {"g", "v_out"});
  AddNode(body, "Neg", {"v"}, {"v_out"});
  model.Output("y");
  ExpectRefused(model, Code::kUnsupported, {"endless", "never end"});
}

ModelBuilder Stacking(bool constant, int64_t most) {
  ModelBuilder model;
  if (constant) {
    model.Ints("n", {}, {most});
  } else {
    model.Input("n", {}, onnx::TensorProto::INT64);
  }
  model.Input("go", {}, onnx::TensorProto::BOOL);
  model.Input("x", {2});
  onnx::NodeProto& loop = model.Node("Loop", {"n", "go", "x"}, {"y", "rows"}, "stacking");
  onnx::GraphProto& body = AddBody(loop, "body", {"i", "g", "v"}, {"g", "v_out", "v"});
  AddNode(body, "Neg", {"v"}, {"v_out"});
  model.Output("rows");
  return model;
}

TEST(LoopRefusals, StackedResultsWithoutABound) {
  ExpectRefused(Stacking(false, 0), Code::kUnsupported,
                {"stacking", "\"rows\"", "constant trip count", "--bind"});
}

TEST(LoopRefusals, StackedResultsWithABoundThatIsNone) {
  for (int64_t most : {INT64_MAX, int64_t{1} << 40, int64_t{1} << 28}) {
    ExpectRefused(Stacking(true, most), Code::kResource,
                  {"stacking", "\"rows\"", std::to_string(most), "bytes", "--budget=nodes:"});
  }
}

TEST(LoopRefusals, ASequenceOverTripsOfARun) {
  ModelBuilder model;
  model.Input("n", {}, onnx::TensorProto::INT64);
  model.Input("x", {2});
  model.Node("SequenceConstruct", {"x"}, {"list"});
  onnx::NodeProto& loop = model.Node("Loop", {"n", "", "list"}, {"longer"}, "collecting");
  onnx::GraphProto& body = AddBody(loop, "body", {"i", "go", "l"}, {"go", "l_out"});
  AddNode(body, "SequenceInsert", {"l", "x"}, {"l_out"});
  model.Output("longer");
  ExpectRefused(model, Code::kUnsupported, {"collecting", "sequence", "--bind"});
}

}  // namespace
}  // namespace aicf::loops
