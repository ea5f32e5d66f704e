// The targets of aicf-compile: every GPU's artifact is verified and executes on the CPU reference.
#include <gtest/gtest.h>

#include "kernels/abi/device.h"
#include "tests/cli/json.h"
#include "tests/cli/small_cnn.h"
#include "tests/cli/tiny_models.h"
#include "tests/cli/tool.h"

namespace aicf::testing {
namespace {

class TargetArtifacts : public ::testing::TestWithParam<abi::CudaTarget> {
 protected:
  void SetUp() override {
    PutFile(dir_ / "cnn.onnx", SmallCnn().SerializeAsString());
    PutNpy(dir_ / "image.npy", "(1, 3, 16, 16)", SmallCnnInput());
  }
  std::string Target() const { return StrCat("cuda:", GetParam().arch); }
  /// The path of the network compiled so.
  std::string Compile(const std::string& name, std::vector<std::string> flags) const {
    flags.insert(flags.begin(), {dir_ / "cnn.onnx", "-o", dir_ / name, "--kernel-cache=none"});
    ExpectSuccess(RunTool("aicf-compile", flags));
    return dir_ / name;
  }
  TempDir dir_;
};

TEST_P(TargetArtifacts, ExecuteOnTheCpuAsTheModelSays) {
  const std::string cpu = Compile("cpu.aicf", {"--target=cpu:baseline"});
  ExpectSuccess(RunTool("aicf-run", {cpu, "--load-inputs=image:" + (dir_ / "image.npy"),
                                     "--export-output=" + (dir_ / "want"), "--duration=0"}));
  const std::string gpu =
      Compile("gpu.aicf", {"--target=" + Target(), "--no-images", "--math=fp16"});
  ExpectSuccess(RunTool("aicf-inspect", {gpu, "--verify"}));
  const Json json = Json::parse(RunTool("aicf-inspect", {gpu, "--json"}).out, nullptr, false);
  EXPECT_EQ(json.at("header").at("target"), Target());
  const Json outputs = Json::parse(GetFile(dir_ / "want/outputs.json"), nullptr, false);
  const std::string want = dir_ / "want/" + outputs.at(0).at("file").get<std::string>();
  ExpectSuccess(
      RunTool("aicf-run", {gpu, "--device=cpu", "--load-inputs=image:" + (dir_ / "image.npy"),
                           "--load-ref-outputs=scores:" + want, "--rel=1e-2", "--duration=0"}));
}

TEST_P(TargetArtifacts, AnArtifactForTheCpuBecomesOneForTheTarget) {
  const std::string cpu = Compile("cpu.aicf", {"--target=cpu:baseline"});
  const std::string direct = Compile("direct.aicf", {"--target=" + Target(), "--no-images"});
  ExpectSuccess(RunTool("aicf-compile", {"--from", cpu, "-o", dir_ / "from.aicf", "--no-images",
                                         "--target=" + Target()}));
  EXPECT_EQ(GetFile(dir_ / "from.aicf"), GetFile(direct));
}

INSTANTIATE_TEST_SUITE_P(Cuda, TargetArtifacts, ::testing::ValuesIn(abi::CudaTargets()),
                         [](const auto& i) { return std::string(i.param.arch); });

TEST(Targets, TheListIsPrinted) {
  const ToolResult r = RunTool("aicf-compile", {"--list-targets"});
  ExpectSuccess(r);
  EXPECT_EQ(r.out, abi::CudaTargetsMarkdown());
}

TEST(Targets, UnknownOnesAreUnsupportedAndTheKnownAreNamed) {
  const TempDir dir;
  const std::string model = PutModel(dir, "tiny");
  for (const std::string target : {"cuda:sm_75", "cuda:native"}) {
    const ToolResult r =
        RunTool("aicf-compile", {model, "-o", dir / "no.aicf", "--target=" + target});
    ExpectFailure("aicf-compile", r, 4, "cuda:sm_120 (RTX 5090)");
  }
}

}  // namespace
}  // namespace aicf::testing
