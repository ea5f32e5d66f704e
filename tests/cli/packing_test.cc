/// Weights in a kernel's own layout: they are chosen, recorded, shown, run on the CPU and taken
/// back.
#include <gtest/gtest.h>

#include "tests/cli/json.h"
#include "tests/cli/tiny_models.h"
#include "tests/cli/tool.h"

namespace aicf::testing {
namespace {

using Args = std::vector<std::string>;

class PackedWeights : public ::testing::Test {
 protected:
  void SetUp() override { PutTinySample(dir_); }

  ToolResult Compile(const std::string& name, Args more) const {
    Args flags = {"-o", dir_ / name, "--kernel-cache=none"};
    flags.insert(flags.end(), more.begin(), more.end());
    return RunTool("aicf-compile", flags);
  }
  /// TinyModel for a GPU, its product on tensor cores in fp16.
  std::string CompileForGpu(const std::string& name, const Args& more = {}) {
    const std::string model = PutModel(dir_, "tiny");
    Args flags = {model,         "--target=cuda:sm_90a",           "--no-images",
                  "--math=fp16", "--policy=gemm=cuda.gemm.tensor", "--policy-strict"};
    flags.insert(flags.end(), more.begin(), more.end());
    ExpectSuccess(Compile(name, flags));
    return dir_ / name;
  }
  static Json Inspect(const std::string& artifact) {
    const ToolResult r = RunTool("aicf-inspect", {artifact, "--json"});
    ExpectSuccess(r);
    return Json::parse(r.out, nullptr, false);
  }
  static std::vector<Json> Packed(const Json& artifact) {
    std::vector<Json> found;
    for (const Json& value : artifact.at("values")) {
      if (value.contains("origin")) found.push_back(value);
    }
    return found;
  }
  static Json StepOf(const Json& artifact, const std::string& kernel) {
    for (const Json& step : artifact.at("steps")) {
      if (step.at("kernel") == kernel) return step;
    }
    ADD_FAILURE() << "no step of " << kernel;
    return {};
  }
  void ExpectRuns(const std::string& artifact) const {
    ExpectSuccess(RunTool("aicf-run", {artifact, "--device=cpu", "--duration=0", "--warm-up=0",
                                       "--load-inputs=x:" + (dir_ / "x.npy"),
                                       "--load-ref-outputs=y:" + (dir_ / "y.npy"),
                                       "--load-ref-outputs=h:" + (dir_ / "h.npy"), "--rel=1e-5"}));
  }

  TempDir dir_;
};

// The weights of TinyModel are exact in fp16.
TEST_F(PackedWeights, OfAGpuProductAreRecordedAndRunOnTheCpu) {
  const std::string artifact = CompileForGpu("a.aicf");
  const Json data = Inspect(artifact);
  const std::vector<Json> packed = Packed(data);
  ASSERT_EQ(packed.size(), 1u) << data.at("values").dump(1);
  EXPECT_EQ(packed[0]["origin"]["layout"], "cuda.gemm.f16_rows8");
  EXPECT_EQ(packed[0]["origin"]["hash"].get<std::string>().size(), 32u);
  EXPECT_EQ(packed[0]["bytes"], 4 * 8 * 2) << "four rows of three columns, padded to eight";
  const Json step = StepOf(data, "cuda.gemm.tensor");
  EXPECT_EQ(step["parameters"]["packed_b"], 1);
  EXPECT_EQ(step["packed_inputs"], 2);
  EXPECT_EQ(step["inputs"][1], packed[0]["value"]);
  int decided = 0;
  for (const Json& d : data.at("decisions")) {
    if (d.at("kind") != "packing") continue;
    ++decided;
    EXPECT_EQ(d.at("choice"), "cuda.gemm.f16_rows8");
    EXPECT_EQ(d.at("step"), step["step"]);
    const std::string hash = packed[0]["origin"]["hash"];
    EXPECT_NE(d.at("reason").get<std::string>().find(hash), std::string::npos) << d.dump();
  }
  EXPECT_EQ(decided, 1);
  const std::string number = std::to_string(step["step"].get<int>());
  const ToolResult text = RunTool("aicf-inspect", {artifact, "--step=" + number});
  ExpectSuccess(text);
  EXPECT_NE(text.out.find("in 1 as cuda.gemm.f16_rows8, of the constant"), std::string::npos)
      << text.out;
  ExpectSuccess(RunTool("aicf-inspect", {artifact, "--verify"}));
  ExpectRuns(artifact);
}

TEST_F(PackedWeights, SamplesOfAGpuArtifactPassOnTheCpu) {
  const std::string artifact =
      CompileForGpu("a.aicf", {"--golden=x:" + (dir_ / "x.npy") + ",y:" + (dir_ / "y.npy"),
                               "--golden=x:" + (dir_ / "x.npy")});
  const ToolResult r = RunTool("aicf-run", {artifact, "--verify=golden", "--device=cpu"});
  ExpectSuccess(r);
  EXPECT_NE(r.out.find("2 of 2 samples agree"), std::string::npos) << r.out;
}

TEST_F(PackedWeights, AnEditTakesThemBack) {
  const std::string packed = CompileForGpu("a.aicf");
  const Json step = StepOf(Inspect(packed), "cuda.gemm.tensor");
  std::string set;
  for (const char* name :
       {"tile_m", "tile_n", "tile_k", "warp_m", "warp_n", "split", "stages", "cluster", "vector"}) {
    set += std::string(name) + "=" + std::to_string(step["parameters"][name].get<int>()) + ",";
  }
  const std::string subject = "--set=step." + std::to_string(step["step"].get<int>());
  ExpectSuccess(Compile("plain.aicf", {"--from", packed, "--no-images",
                                       subject + ".parameters=" + set + "packed_b=0"}));
  const Json plain = Inspect(dir_ / "plain.aicf");
  EXPECT_TRUE(Packed(plain).empty());
  EXPECT_EQ(StepOf(plain, "cuda.gemm.tensor")["parameters"]["packed_b"], 0);
  ExpectRuns(dir_ / "plain.aicf");
  // And gives them again; compiled again without an edit, the artifact is the same.
  ExpectSuccess(
      Compile("again.aicf", {"--from", dir_ / "plain.aicf", "--no-images", "--drop-edits"}));
  EXPECT_EQ(GetFile(dir_ / "again.aicf"), GetFile(packed));
}

// A product of two inputs has nothing to pack.
TEST_F(PackedWeights, AreConstantsOnly) {
  const std::string model = PutModel(dir_, "inputs", [](onnx::ModelProto& m) {
    auto* graph = m.mutable_graph();
    ASSERT_EQ(graph->initializer(0).name(), "w");
    graph->mutable_initializer()->DeleteSubrange(0, 1);
    SetTensorInfo(*graph->add_input(), "w", {4, 3});
  });
  const Args flags = {model,         "--target=cuda:sm_90a",           "--no-images",
                      "--math=fp16", "--policy=gemm=cuda.gemm.tensor", "--policy-strict"};
  ExpectSuccess(Compile("a.aicf", flags));
  const Json data = Inspect(dir_ / "a.aicf");
  EXPECT_TRUE(Packed(data).empty());
  const Json step = StepOf(data, "cuda.gemm.tensor");
  EXPECT_EQ(step["parameters"]["packed_b"], 0);
  std::string set;
  for (const char* name :
       {"tile_m", "tile_n", "tile_k", "warp_m", "warp_n", "split", "stages", "cluster", "vector"}) {
    set += std::string(name) + "=" + std::to_string(step["parameters"][name].get<int>()) + ",";
  }
  const std::string subject = "--set=step." + std::to_string(step["step"].get<int>());
  ExpectFailure("aicf-compile",
                Compile("no.aicf", {"--from", dir_ / "a.aicf", "--no-images",
                                    subject + ".parameters=" + set + "packed_b=1"}),
                4, "packs operand 1 ('w') at compile time, which is not constant");
}

// Buckets share the packed bytes.
TEST_F(PackedWeights, AreStoredOnceForAllEntryPoints) {
  const std::string model = PutModel(dir_, "open", [](onnx::ModelProto& m) {
    for (auto* list : {m.mutable_graph()->mutable_input(), m.mutable_graph()->mutable_output()}) {
      for (auto& info : *list) {
        info.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(0)->set_dim_param(
            "rows");
      }
    }
  });
  const std::string artifact = dir_ / "a.aicf";
  ExpectSuccess(Compile("a.aicf", {model, "--target=cuda:sm_90a", "--no-images", "--math=fp16",
                                   "--policy=gemm=cuda.gemm.tensor", "--policy-strict",
                                   "--bucket=two=x:2x4", "--bucket=four=x:4x4"}));
  const std::vector<Json> packed = Packed(Inspect(artifact));
  ASSERT_FALSE(packed.empty());
  for (const Json& value : packed) EXPECT_EQ(value["offset"], packed[0]["offset"]);
  ExpectSuccess(RunTool("aicf-inspect", {artifact, "--verify"}));
}

TEST_F(PackedWeights, OfACpuKernelAreRecordedToo) {
  const std::string artifact = PutArtifact(
      dir_, "cpu.aicf", {"--target=cpu:baseline", "--policy=gemm=cpu.gemm.packed_baseline"});
  const std::vector<Json> packed = Packed(Inspect(artifact));
  ASSERT_EQ(packed.size(), 1u);
  EXPECT_EQ(packed[0]["origin"]["layout"], "cpu.gemm.panels4");
  ExpectRuns(artifact);
  ExpectSuccess(RunTool("aicf-run", {artifact, "--verify"}));
}

}  // namespace
}  // namespace aicf::testing
