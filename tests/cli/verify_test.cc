/// aicf-run --verify: right kernels pass, a planted wrong one is found at its step.
#include <gtest/gtest.h>

#include "tests/cli/json.h"
#include "tests/cli/small_cnn.h"
#include "tests/cli/tiny_models.h"
#include "tests/cli/tool.h"

namespace aicf::testing {
namespace {

class Verify : public ::testing::Test {
 protected:
  void SetUp() override {
    PutFile(dir_ / "cnn.onnx", SmallCnn().SerializeAsString());
    PutNpy(dir_ / "image.npy", "(1, 3, 16, 16)", SmallCnnInput());
    artifact_ = Compile("cnn.aicf", {});
  }
  std::string Compile(const std::string& name, std::vector<std::string> flags) {
    flags.insert(flags.begin(), {dir_ / "cnn.onnx", "-o", dir_ / name});
    ExpectSuccess(RunTool("aicf-compile", flags));
    return dir_ / name;
  }
  /// On the test's image.
  ToolResult Run(const std::string& tool, std::vector<std::string> flags) {
    flags.insert(flags.begin(), {artifact_, "--load-inputs=image:" + (dir_ / "image.npy")});
    return RunTool(tool, flags);
  }

  TempDir dir_;
  std::string artifact_;
};

TEST_F(Verify, RightKernelsPass) {
  const ToolResult r = Run("aicf-run", {"--verify"});
  ExpectSuccess(r);
  for (const char* part : {"=== Largest errors on the same buffers ===", "drift", "scores",
                           "PASSED: ", "conv1, relu1", "pool1", "exact"}) {
    EXPECT_NE(r.out.find(part), std::string::npos) << part << " is missing in\n" << r.out;
  }
  EXPECT_EQ(r.out.find("FAIL"), std::string::npos) << r.out;
  // Nothing was measured.
  EXPECT_EQ(r.out.find("Performance summary"), std::string::npos);
}

/// The copy of aicf-run whose vector kernels of pooling are wrong in one element.
TEST_F(Verify, APlantedWrongKernelIsFoundAtItsStep) {
  const ToolResult r = Run("aicf-run-planted", {"--verify"});
  ExpectFailure("aicf-run", r, 1, "pool1) differs from the reference kernel");
  for (const char* part : {"First difference: step ", "cpu.pool.", "; pool1)",
                           "1 of 1024 elements differ, worst at [0,1,7,7]",
                           "FAILED: ", "To pin it: aicf-compile --from ", ".kernel=cpu.pool."}) {
    EXPECT_NE(r.out.find(part), std::string::npos) << part << " is missing in\n" << r.out;
  }
}

TEST_F(Verify, OnlyThePlantedStepsFailHoweverManyFollow) {
  const ToolResult r = Run("aicf-run-planted", {"--verify", "--json"});
  ExpectFailure("aicf-run", r, 1, "pool1");
  const Json verify = Json::parse(r.out).at("verify");
  EXPECT_EQ(verify.at("mode"), "steps");
  EXPECT_EQ(verify.at("pass"), false);
  size_t before = 0, after = 0;
  bool found = false;
  for (const Json& step : verify.at("steps")) {
    const bool planted = step.at("sources") == Json({"pool1"});
    if (planted) {
      found = true;
      EXPECT_EQ(step.at("step"), verify.at("first_failed"));
      EXPECT_FALSE(step.at("pass").get<bool>());
      EXPECT_EQ(step.at("worst").at("index"), "0,1,7,7");
      EXPECT_NEAR(step.at("worst").at("found").get<double>() -
                      step.at("worst").at("expected").get<double>(),
                  0.5, 1e-5);
      continue;
    }
    // The average pool is one of the wrong kernels, too, unless another family computes it.
    const bool pool = step.at("kernel").get<std::string>().starts_with("cpu.pool.");
    EXPECT_EQ(step.at("pass").get<bool>(), !pool) << step.dump();
    (found ? after : before) += 1;
  }
  EXPECT_TRUE(found);
  EXPECT_GE(before, 1u);
  EXPECT_GE(after, 3u);
  // The fault's way to the output shows in the drift, which is not judged.
  EXPECT_GT(verify.at("outputs")[0].at("relative_l2").get<double>(), 1e-4);
}

TEST_F(Verify, TheSameBuildWithoutTheWrongKernelPasses) {
  // The baseline of this control: no pooling in the model, the planted program finds nothing.
  artifact_ = PutArtifact(dir_);
  PutNpy(dir_ / "x.npy", "(2, 4)", {0.5f, -1, 2, 0.25f, 1.5f, 0.75f, -0.5f, 3});
  const ToolResult r =
      RunTool("aicf-run-planted", {artifact_, "--verify", "--load-inputs=x:" + (dir_ / "x.npy")});
  ExpectSuccess(r);
  EXPECT_NE(r.out.find("PASSED: "), std::string::npos) << r.out;
}

TEST_F(Verify, EveryInstructionSetOfThisMachinePasses) {
  artifact_ = Compile("baseline.aicf", {"--target=cpu:baseline"});
  ExpectSuccess(Run("aicf-run", {"--verify", "--verbose"}));
}

TEST_F(Verify, TheUsersToleranceReplacesTheSteps) {
  ExpectFailure("aicf-run", Run("aicf-run", {"--verify", "--atol=0"}), 1, "differs from");
  ExpectSuccess(Run("aicf-run-planted", {"--verify", "--atol=0.6"}));
}

TEST_F(Verify, JsonHoldsEveryStep) {
  const ToolResult r = Run("aicf-run", {"--verify", "--json"});
  ExpectSuccess(r);
  const Json out = Json::parse(r.out);
  EXPECT_EQ(out.at("device"), "cpu");
  EXPECT_EQ(out.at("entry"), "main");
  const Json& verify = out.at("verify");
  EXPECT_EQ(verify.at("pass"), true);
  EXPECT_TRUE(verify.at("first_failed").is_null());
  EXPECT_EQ(verify.at("steps").size(), verify.at("compared").get<size_t>());
  for (const Json& step : verify.at("steps")) {
    for (const char* key : {"step", "kernel", "sources", "math", "pass", "runs", "max_abs_error",
                            "max_rel_error", "relative_l2", "tolerance", "drift_l2"}) {
      EXPECT_TRUE(step.contains(key)) << key;
    }
  }
}

// The weights' own kernels unpack them.
TEST_F(Verify, AStrippedArtifactIsVerifiedToo) {
  const std::string stripped = Compile("stripped.aicf", {"--strip"});
  const ToolResult result = RunTool("aicf-run", {stripped, "--verify"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
}

TEST_F(Verify, WhatCannotBeVerifiedSaysWhatCan) {
  const std::string cuda = Compile("cuda.aicf", {"--target=cuda", "--no-images"});
  ExpectFailure("aicf-run", RunTool("aicf-run", {cuda, "--verify", "--device=cpu"}), 6,
                "leaves nothing to compare");
  for (const char* flag : {"--profile", "--memory", "--export-output=out", "--export-times=t.json",
                           "--export-profile=p.json", "--load-ref-outputs=scores:r.npy"}) {
    ExpectFailure("aicf-run", RunTool("aicf-run", {artifact_, "--verify", flag}), 2, "--verify");
  }
  ExpectFailure("aicf-run", RunTool("aicf-run", {artifact_, "--verify=all"}), 2,
                "expected steps or golden");
}

TEST_F(Verify, WithoutInputsTheyAreMadeUp) {
  ExpectSuccess(RunTool("aicf-run", {artifact_, "--verify"}));
}

TEST_F(Verify, ASmallerShapeIsVerifiedPadded) {
  onnx::ModelProto model = SmallCnn();
  auto* shape = model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type();
  shape->mutable_shape()->mutable_dim(0)->set_dim_param("n");
  model.mutable_graph()->mutable_output(0)->mutable_type()->mutable_tensor_type()->clear_shape();
  PutFile(dir_ / "cnn.onnx", model.SerializeAsString());
  artifact_ = Compile("buckets.aicf", {"--bucket=four=image:4x3x16x16"});
  const ToolResult r = Run("aicf-run", {"--verify", "--json"});
  ExpectSuccess(r);
  EXPECT_EQ(Json::parse(r.out).at("entry"), "four");
}

}  // namespace
}  // namespace aicf::testing
