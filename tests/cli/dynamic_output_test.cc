/// A model whose output's shape depends on its data, through all three tools.
#include <gtest/gtest.h>

#include "tests/cli/json.h"
#include "tests/cli/tiny_models.h"
#include "tests/cli/tool.h"

namespace aicf::testing {
namespace {

/// at = NonZero(x), and values[k] = the k-th of those elements.
std::string PutNonZeroModel(const TempDir& dir) {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(18);
  onnx::GraphProto& graph = *model.mutable_graph();
  graph.set_name("nonzero");
  SetTensorInfo(*graph.add_input(), "x", {2, 3});
  AddNode(graph, "NonZero", {"x"}, {"at"});
  AddNode(graph, "Transpose", {"at"}, {"points"});
  AddNode(graph, "GatherND", {"x", "points"}, {"values"});
  graph.add_output()->set_name("at");
  graph.add_output()->set_name("values");
  for (onnx::ValueInfoProto& v : *graph.mutable_output()) {
    const int type = v.name() == "at" ? onnx::TensorProto::INT64 : onnx::TensorProto::FLOAT;
    v.mutable_type()->mutable_tensor_type()->set_elem_type(type);
  }
  PutFile(dir / "m.onnx", Serialized(model));
  return dir / "m.onnx";
}

class DynamicOutput : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    std::vector<std::string> args = {PutNonZeroModel(dir_), "-o", artifact_,
                                     std::string("--target=") + GetParam()};
    if (std::string(GetParam()).starts_with("cuda")) args.push_back("--no-images");
    ExpectSuccess(RunTool("aicf-compile", args));
    PutNpy(dir_ / "x.npy", "(2, 3)", {0, 5, 0, 7, 0, 9});
  }
  ToolResult Run(std::vector<std::string> args) {
    args.insert(args.begin(), {artifact_, "--device=cpu", "--load-inputs=x:" + (dir_ / "x.npy"),
                               "--duration=0", "--warm-up=0"});
    return RunTool("aicf-run", args);
  }

  TempDir dir_;
  const std::string artifact_ = dir_ / "m.aicf";
};

TEST_P(DynamicOutput, IsExportedWithItsActualShape) {
  const ToolResult r = Run({"--export-output=" + (dir_ / "out")});
  ExpectSuccess(r);
  EXPECT_NE(r.out.find("output, at most 2x6"), std::string::npos) << r.out;
  const Json list = Json::parse(GetFile(dir_ / "out/outputs.json"));
  ASSERT_EQ(list.size(), 2u) << "counts are no outputs of the model";
  EXPECT_EQ(list[0]["name"], "at");
  EXPECT_EQ(list[0]["shape"], Json({2, 3}));
  EXPECT_EQ(list[1]["shape"], Json({3}));
  const std::string npy = GetFile(dir_ / "out/values.npy");
  const float want[] = {5, 7, 9};
  EXPECT_EQ(npy.substr(npy.size() - sizeof want),
            std::string(reinterpret_cast<const char*>(want), sizeof want));
}

TEST_P(DynamicOutput, IsComparedInItsActualShape) {
  PutNpy(dir_ / "right.npy", "(3,)", {5, 7, 9});
  PutNpy(dir_ / "short.npy", "(2,)", {5, 7});
  PutNpy(dir_ / "long.npy", "(7,)", {5, 7, 9, 0, 0, 0, 0});
  ExpectSuccess(Run({"--load-ref-outputs=values:" + (dir_ / "right.npy")}));
  ExpectFailure("aicf-run", Run({"--load-ref-outputs=values:" + (dir_ / "short.npy")}), 1,
                "expected shape 2, found 3");
  ExpectFailure("aicf-run", Run({"--load-ref-outputs=values:" + (dir_ / "long.npy")}), 2, "values");
}

TEST_P(DynamicOutput, IsDescribedByInspect) {
  const ToolResult text = RunTool("aicf-inspect", {artifact_});
  ExpectSuccess(text);
  EXPECT_NE(text.out.find("output, axis 1 ends at at.count"), std::string::npos) << text.out;
  const ToolResult json = RunTool("aicf-inspect", {artifact_, "--json"});
  ExpectSuccess(json);
  const Json entry = Json::parse(json.out)["entry_points"][0];
  EXPECT_EQ(entry["extents"].size(), 2u);
  EXPECT_EQ(entry["extents"][0], (Json{{"output", 0}, {"axis", 1}, {"count", 2}}));
  EXPECT_EQ(entry["extents"][1]["axis"], 0);
}

INSTANTIATE_TEST_SUITE_P(Targets, DynamicOutput, ::testing::Values("cpu", "cuda:sm_90a"),
                         [](const ::testing::TestParamInfo<const char*>& target) {
                           return std::string(target.param).substr(0, 3) == "cpu" ? "cpu" : "cuda";
                         });

}  // namespace
}  // namespace aicf::testing
