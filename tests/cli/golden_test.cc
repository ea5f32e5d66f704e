/// Samples in an artifact: aicf-compile --golden, aicf-run --verify=golden.
#include <gtest/gtest.h>

#include "tests/cli/json.h"
#include "tests/cli/small_cnn.h"
#include "tests/cli/tiny_models.h"
#include "tests/cli/tool.h"

namespace aicf::testing {
namespace {

class Golden : public ::testing::Test {
 protected:
  void SetUp() override { PutTinySample(dir_); }
  std::string Tensor(const std::string& name) const {
    return name + ":" + (dir_ / (name + ".npy"));
  }
  std::string Sample(const std::vector<std::string>& names) const {
    std::string flag;
    for (const std::string& n : names) flag += (flag.empty() ? "--golden=" : ",") + Tensor(n);
    return flag;
  }

  TempDir dir_;
};

TEST_F(Golden, GivenAndComputedOutputsPassOnEveryTarget) {
  for (const std::string target : {"cpu", "cpu:baseline", "cuda"}) {
    std::vector<std::string> flags = {Sample({"x", "y", "h"}), Sample({"x"}), Sample({"x", "h"}),
                                      "--target=" + target, "--force"};
    if (target == "cuda") flags.push_back("--no-images");
    const std::string artifact = PutArtifact(dir_, "g.aicf", flags);
    const ToolResult r = RunTool("aicf-run", {artifact, "--verify=golden", "--device=cpu"});
    ExpectSuccess(r);
    for (const char* part : {"=== Sample 1 (outputs given, atol 0.001, rtol 0.001) ===",
                             "=== Sample 2 (outputs of the reference kernels, ", "PASS  y",
                             "PASS  h", "PASSED: 3 of 3 samples agree"}) {
      EXPECT_NE(r.out.find(part), std::string::npos) << part << " is missing in\n" << r.out;
    }
  }
}

TEST_F(Golden, AWrongExpectationFailsWithItsWorstElement) {
  PutNpy(dir_ / "y.npy", "(2, 3)", {0, 0, 0, 0, 0, 7});
  const std::string artifact = PutArtifact(dir_, "g.aicf", {Sample({"x"}), Sample({"x", "y"})});
  const ToolResult r = RunTool("aicf-run", {artifact, "--verify=golden"});
  ExpectFailure("aicf-run", r, 1, "golden sample 2: output 'y' is outside atol 0.001");
  for (const char* part : {"FAIL  y", "worst at [1,2]", ", expected 7", "FAILED: 1 of 2 samples"}) {
    EXPECT_NE(r.out.find(part), std::string::npos) << part << " is missing in\n" << r.out;
  }
}

TEST_F(Golden, ToleranceIsTheSamplesOwnUnlessOneIsGiven) {
  PutNpy(dir_ / "y.npy", "(2, 3)", std::vector<float>(6, 0.4f));
  const std::string artifact = PutArtifact(dir_, "g.aicf", {Sample({"x", "y"}), "--golden-rel=4"});
  const ToolResult r = RunTool("aicf-run", {artifact, "--verify=golden", "--json"});
  ExpectSuccess(r);
  const Json sample = Json::parse(r.out).at("verify").at("samples").at(0);
  EXPECT_EQ(sample.at("tolerance"), Json({{"rel", 4.0}}));
  EXPECT_EQ(sample.at("outputs_from"), "given");
  EXPECT_EQ(sample.at("outputs").size(), 1u);
  ExpectFailure("aicf-run", RunTool("aicf-run", {artifact, "--verify=golden", "--rel=0.01"}), 1,
                "outside rel 0.01");
}

TEST_F(Golden, APlantedWrongKernelFailsTheSample) {
  PutFile(dir_ / "cnn.onnx", SmallCnn().SerializeAsString());
  PutNpy(dir_ / "image.npy", "(1, 3, 16, 16)", SmallCnnInput());
  const std::string artifact = dir_ / "cnn.aicf";
  ExpectSuccess(RunTool("aicf-compile", {dir_ / "cnn.onnx", "-o", artifact, Sample({"image"}),
                                         "--golden-atol=1e-5"}));
  ExpectSuccess(RunTool("aicf-run", {artifact, "--verify=golden"}));
  ExpectFailure("aicf-run", RunTool("aicf-run-planted", {artifact, "--verify=golden"}), 1,
                "output 'scores'");
}

TEST_F(Golden, EqualCallsGiveEqualBytesAndStrippedArtifactsKeepTheSamples) {
  const std::vector<std::string> flags = {Sample({"x"}), Sample({"x", "y"})};
  EXPECT_EQ(GetFile(PutArtifact(dir_, "a.aicf", flags)),
            GetFile(PutArtifact(dir_, "b.aicf", flags)));
  const std::string stripped = PutArtifact(dir_, "s.aicf", {flags[0], "--strip"});
  ExpectSuccess(RunTool("aicf-run", {stripped, "--verify=golden"}));
}

TEST_F(Golden, BucketsAreChosenByShape) {
  const auto loose = [](onnx::ModelProto& m) {
    auto* type = m.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type();
    type->mutable_shape()->mutable_dim(0)->set_dim_param("n");
    for (auto& o : *m.mutable_graph()->mutable_output()) {
      o.mutable_type()->mutable_tensor_type()->clear_shape();
    }
  };
  const std::string model = PutModel(dir_, "loose", loose);
  PutNpy(dir_ / "big.npy", "(3, 4)", std::vector<float>(12, 0.5f));
  const std::string artifact = dir_ / "b.aicf";
  const std::vector<std::string> compile = {model, "-o", artifact, "--bucket=two=x:2x4",
                                            "--bucket=three=x:3x4"};
  std::vector<std::string> good = compile;
  good.insert(good.end(), {"--golden=x:" + (dir_ / "big.npy"), Sample({"x", "y"})});
  ExpectSuccess(RunTool("aicf-compile", good));
  const ToolResult r = RunTool("aicf-run", {artifact, "--verify=golden"});
  ExpectSuccess(r);
  EXPECT_NE(r.out.find("Sample 1 (entry three, "), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("Sample 2 (entry two, "), std::string::npos) << r.out;
  PutNpy(dir_ / "five.npy", "(5, 4)", std::vector<float>(20, 0.5f));
  std::vector<std::string> bad = compile;
  bad.insert(bad.end(), {"--force", "--golden=x:" + (dir_ / "five.npy")});
  ExpectFailure("aicf-compile", RunTool("aicf-compile", bad), 2, "no entry point has inputs");
}

TEST_F(Golden, FaultsAreUsageErrors) {
  const std::string model = PutModel(dir_, "tiny");
  PutNpy(dir_ / "flat.npy", "(8,)", kTinyInput);
  const auto refused = [&](const std::vector<std::string>& flags, int code, const char* part) {
    std::vector<std::string> args = {model, "-o", dir_ / "out.aicf"};
    args.insert(args.end(), flags.begin(), flags.end());
    ExpectFailure("aicf-compile", RunTool("aicf-compile", args), code, part);
  };
  refused({Sample({"y"})}, 2, "sample 1: input 'x' is not given");
  refused({Sample({"x"}), "--golden=x:" + (dir_ / "flat.npy")}, 2,
          "sample 2: input 'x' is f32 8, expected f32 2x4");
  refused({Sample({"x"}) + ",y:" + (dir_ / "x.npy")}, 2, "output 'y' is f32 2x4, expected f32 2x3");
  refused({Sample({"x"}) + ",z:" + (dir_ / "x.npy")}, 2, "no input or output 'z'");
  refused({Sample({"x", "x"})}, 2, "'x' is given twice");
  refused({"--golden=x.npy"}, 2, "expected name:file.npy");
  refused({"--golden=x:" + (dir_ / "none.npy")}, 8, "none.npy");
  refused({"--golden-atol=1"}, 2, "need --golden");
  refused({Sample({"x"}), "--golden-atol=-1"}, 2, "--golden-atol");
}

TEST_F(Golden, WithoutSamplesThereIsNothingToVerify) {
  const std::string artifact = PutArtifact(dir_);
  ExpectFailure("aicf-run", RunTool("aicf-run", {artifact, "--verify=golden"}), 2,
                "carries no samples");
  ExpectFailure("aicf-run",
                RunTool("aicf-run", {artifact, "--verify=golden", "--load-inputs=" + Tensor("x")}),
                2, "the samples bring their inputs");
}

}  // namespace
}  // namespace aicf::testing
