/// The parameter `ahead`, with which a product reads its weights before it waits for the preceding
/// step: how it is chosen, shown, edited and refused.
#include <gtest/gtest.h>

#include "tests/cli/json.h"
#include "tests/cli/tiny_models.h"
#include "tests/cli/tool.h"

namespace aicf::testing {
namespace {

class AheadOfTheWait : public ::testing::Test {
 protected:
  /// y[64,64] = x * w in f16, w being a constant or a second input; compiled for a GPU.
  std::string CompileProduct(const std::string& name, bool constant) {
    const std::string model = PutModel(dir_, name, [&](onnx::ModelProto& m) {
      m.clear_graph();
      onnx::GraphProto& graph = *m.mutable_graph();
      graph.set_name("product");
      AddNode(graph, "MatMul", {"x", "w"}, {"y"});
      DescribeHalf(*graph.add_input(), "x");
      DescribeHalf(*graph.add_output(), "y");
      if (!constant) {
        DescribeHalf(*graph.add_input(), "w");
        return;
      }
      onnx::TensorProto& w = *graph.add_initializer();
      w.set_name("w");
      w.set_data_type(onnx::TensorProto::FLOAT16);
      for (int d = 0; d < 2; ++d) w.add_dims(64);
      w.set_raw_data(std::string(64 * 64 * 2, '\x38'));
    });
    ExpectSuccess(Compile(name, {model, "--target=cuda:sm_90a", "--math=fp16",
                                 "--policy=gemm=cuda.gemm.hopper", "--policy-strict"}));
    return dir_ / name;
  }
  ToolResult Compile(const std::string& name, std::vector<std::string> flags) const {
    flags.insert(flags.begin(), {"-o", dir_ / name, "--kernel-cache=none", "--no-images"});
    return RunTool("aicf-compile", flags);
  }
  static void DescribeHalf(onnx::ValueInfoProto& info, const std::string& name) {
    SetTensorInfo(info, name, {64, 64});
    info.mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT16);
  }
  static Json ParametersOf(const std::string& artifact) {
    const ToolResult r = RunTool("aicf-inspect", {artifact, "--json"});
    ExpectSuccess(r);
    const Json all = Json::parse(r.out, nullptr, false);
    return all.at("steps").at(0).at("parameters");
  }
  static std::string SetAhead(const Json& parameters, int value) {
    std::string set = "--set=step.0.parameters=";
    for (const char* name :
         {"tile_m", "tile_n", "tile_k", "stages", "cluster_m", "cluster", "consumers", "group_m",
          "swap", "ping_pong", "vector", "blocks", "split"}) {
      set += std::string(name) + "=" + std::to_string(parameters.at(name).get<int>()) + ",";
    }
    return set + "ahead=" + std::to_string(value);
  }

  TempDir dir_;
};

TEST_F(AheadOfTheWait, AreConstantsAndAnEditTakesThemBack) {
  const std::string artifact = CompileProduct("constant.aicf", true);
  const Json parameters = ParametersOf(artifact);
  EXPECT_EQ(parameters.at("ahead"), 1);
  ExpectSuccess(Compile("waits.aicf", {"--from", artifact, SetAhead(parameters, 0)}));
  EXPECT_EQ(ParametersOf(dir_ / "waits.aicf").at("ahead"), 0);
  ExpectSuccess(Compile("again.aicf", {"--from", dir_ / "waits.aicf", "--drop-edits"}));
  EXPECT_EQ(ParametersOf(dir_ / "again.aicf").at("ahead"), 1);
}

TEST_F(AheadOfTheWait, AreNoInputs) {
  const std::string artifact = CompileProduct("input.aicf", false);
  const Json parameters = ParametersOf(artifact);
  EXPECT_EQ(parameters.at("ahead"), 0);
  ExpectFailure("aicf-compile", Compile("no.aicf", {"--from", artifact, SetAhead(parameters, 1)}),
                4, "reads operand 1 ('w') before it waits, which is not constant");
}

}  // namespace
}  // namespace aicf::testing
