/// A model whose loop ends depending on its data, through all three tools.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/cli/json.h"
#include "tests/cli/tiny_models.h"
#include "tests/cli/tool.h"

namespace aicf::testing {
namespace {

void AddConstant(onnx::GraphProto& graph, const std::string& name, float value) {
  onnx::TensorProto& t = *graph.add_initializer();
  t.set_name(name);
  t.set_data_type(onnx::TensorProto::FLOAT);
  t.add_dims(1);
  t.add_float_data(value);
}

/// while (x > 1) { x = x / 2; n = n + 1 }, and optionally each x, stacked.
std::string PutHalvingModel(const TempDir& dir, bool stacked) {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(18);
  onnx::GraphProto& graph = *model.mutable_graph();
  graph.set_name("halving");
  SetTensorInfo(*graph.add_input(), "x", {1});
  AddConstant(graph, "zero", 0);
  AddConstant(graph, "one", 1);
  AddConstant(graph, "two", 2);
  AddNode(graph, "Greater", {"x", "one"}, {"go"});
  onnx::NodeProto& loop = AddNode(graph, "Loop", {"", "go", "x", "zero"}, {"last", "n"});
  loop.set_name("halving_loop");
  onnx::AttributeProto& attribute = *loop.add_attribute();
  attribute.set_name("body");
  attribute.set_type(onnx::AttributeProto::GRAPH);
  onnx::GraphProto& body = *attribute.mutable_g();
  for (const char* name : {"i", "go_in", "v", "c"}) body.add_input()->set_name(name);
  AddNode(body, "Div", {"v", "two"}, {"half"});
  AddNode(body, "Add", {"c", "one"}, {"next"});
  AddNode(body, "Greater", {"half", "one"}, {"more"});
  for (const char* name : {"more", "half", "next"}) body.add_output()->set_name(name);
  SetTensorInfo(*graph.add_output(), "n", {1});
  if (stacked) {
    body.add_output()->set_name("v");
    loop.add_output("every");
    SetTensorInfo(*graph.add_output(), "every", {1});
  }
  PutFile(dir / "m.onnx", Serialized(model));
  return dir / "m.onnx";
}

class LoopModel : public ::testing::TestWithParam<const char*> {
 protected:
  std::vector<std::string> Arguments(bool stacked) {
    std::vector<std::string> args = {PutHalvingModel(dir_, stacked), "-o", artifact_,
                                     std::string("--target=") + GetParam()};
    if (std::string(GetParam()).starts_with("cuda")) args.push_back("--no-images");
    return args;
  }

  TempDir dir_;
  const std::string artifact_ = dir_ / "m.aicf";
};

TEST_P(LoopModel, RunsAsOftenAsItsDataSay) {
  ExpectSuccess(RunTool("aicf-compile", Arguments(false)));
  for (const auto& [x, n] : {std::pair(0.5f, 0.0f), {1.5f, 1.0f}, {8.0f, 3.0f}, {1000.0f, 10.0f}}) {
    PutNpy(dir_ / "x.npy", "(1,)", {x});
    PutNpy(dir_ / "n.npy", "(1,)", {n});
    PutNpy(dir_ / "wrong.npy", "(1,)", {n + 1});
    const auto run = [&](const std::string& reference) {
      return RunTool("aicf-run",
                     {artifact_, "--device=cpu", "--load-inputs=x:" + (dir_ / "x.npy"),
                      "--load-ref-outputs=n:" + (dir_ / reference), "--duration=0", "--warm-up=0"});
    };
    ExpectSuccess(run("n.npy"));
    ExpectFailure("aicf-run", run("wrong.npy"), 1, "n");
  }
}

TEST_P(LoopModel, IsProfiledWithItsSteps) {
  ExpectSuccess(RunTool("aicf-compile", Arguments(false)));
  PutNpy(dir_ / "x.npy", "(1,)", {100});
  const ToolResult r = RunTool(
      "aicf-run", {artifact_, "--device=cpu", "--profile", "--load-inputs=x:" + (dir_ / "x.npy")});
  ExpectSuccess(r);
  EXPECT_NE(r.out.find("halving_loop/node_half"), std::string::npos) << r.out;
}

TEST_P(LoopModel, IsDescribedByInspect) {
  ExpectSuccess(RunTool("aicf-compile", Arguments(false)));
  const ToolResult text = RunTool("aicf-inspect", {artifact_});
  ExpectSuccess(text);
  EXPECT_NE(text.out.find("repeat while halving_loop/state holds"), std::string::npos) << text.out;
  const ToolResult json = RunTool("aicf-inspect", {artifact_, "--json"});
  ExpectSuccess(json);
  const Json whole = Json::parse(json.out);
  const Json& loops = whole["entry_points"][0]["loops"];
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_GT(loops[0]["step_count"], 0);
  EXPECT_EQ(whole["values"][loops[0]["condition"].get<size_t>()]["role"], "carried");
  ExpectSuccess(RunTool("aicf-inspect", {artifact_, "--verify"}));
}

TEST_P(LoopModel, ThatStacksWithoutABoundIsRefused) {
  ExpectFailure("aicf-compile", RunTool("aicf-compile", Arguments(true)), 4, "halving_loop");
  EXPECT_FALSE(std::filesystem::exists(artifact_));
}

INSTANTIATE_TEST_SUITE_P(Targets, LoopModel, ::testing::Values("cpu", "cuda:sm_90a"),
                         [](const ::testing::TestParamInfo<const char*>& target) {
                           return std::string(target.param).substr(0, 3) == "cpu" ? "cpu" : "cuda";
                         });

}  // namespace
}  // namespace aicf::testing
