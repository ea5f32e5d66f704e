/// --precision: values stored in 16 bits, what keeps values in f32, and how an overflow is found
/// and fixed.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/cli/json.h"
#include "tests/cli/tiny_models.h"
#include "tests/cli/tool.h"

namespace aicf::testing {
namespace {

using Args = std::vector<std::string>;

class Precision : public ::testing::Test {
 protected:
  void SetUp() override {
    PutTinySample(dir_);
    model_ = PutModel(dir_, "tiny");
    std::vector<float> large = kTinyInput;
    for (float& v : large) v *= 1e5f;
    PutNpy(dir_ / "large.npy", "(2, 4)", large);
  }

  ToolResult Compile(Args flags) const { return RunTool("aicf-compile", std::move(flags)); }
  std::string Narrow(const std::string& name, const Args& more = {}) const {
    Args flags = {model_, "-o", dir_ / name, "--precision=fp16", "--kernel-cache=none"};
    flags.insert(flags.end(), more.begin(), more.end());
    ExpectSuccess(Compile(flags));
    return dir_ / name;
  }
  static std::vector<Json> StorageOf(const std::string& artifact) {
    const ToolResult r = RunTool("aicf-inspect", {artifact, "--json"});
    ExpectSuccess(r);
    std::vector<Json> found;
    const Json data = Json::parse(r.out, nullptr, false);
    for (const Json& d : data.at("decisions")) {
      if (d.at("kind") == "storage") found.push_back(d);
    }
    return found;
  }
  ToolResult Run(const std::string& artifact, const Args& more) const {
    Args flags = {artifact, "--device=cpu", "--duration=0", "--warm-up=0"};
    flags.insert(flags.end(), more.begin(), more.end());
    return RunTool("aicf-run", flags);
  }
  void ExpectRight(const std::string& artifact) const {
    ExpectSuccess(Run(artifact, {"--load-inputs=x:" + (dir_ / "x.npy"),
                                 "--load-ref-outputs=y:" + (dir_ / "y.npy"),
                                 "--load-ref-outputs=h:" + (dir_ / "h.npy"), "--rel=2e-3"}));
  }
  ToolResult VerifyLarge(const std::string& artifact) const {
    return Run(artifact, {"--load-inputs=x:" + (dir_ / "large.npy"), "--verify"});
  }
  /// "--set=..." of the line that says how to pin the step.
  static std::string PinOf(const std::string& text) {
    const size_t at = text.find("--set=", text.find("To pin it"));
    EXPECT_NE(at, std::string::npos) << text;
    return at == std::string::npos ? "" : text.substr(at, text.find(' ', at) - at);
  }

  TempDir dir_;
  std::string model_;
};

TEST_F(Precision, ValuesBetweenStepsAndWeightsAreNarrowOnBothTargets) {
  for (const Args& target : {Args{}, Args{"--target=cuda", "--no-images"}}) {
    const std::string artifact = Narrow(target.empty() ? "cpu.aicf" : "cuda.aicf", target);
    int narrow = 0;
    for (const Json& d : StorageOf(artifact)) narrow += d.at("choice") == "f16" ? 1 : 0;
    EXPECT_GE(narrow, 3) << "a value, the weights, and the product's copy of x";
    ExpectRight(artifact);
  }
}

TEST_F(Precision, IsKeptByTheArtifact) {
  const std::string artifact = Narrow("a.aicf");
  ExpectSuccess(Compile({"--rebuild", artifact, model_}));
  ExpectSuccess(Compile({"--from", artifact, "-o", dir_ / "b.aicf"}));
  EXPECT_EQ(GetFile(dir_ / "b.aicf"), GetFile(artifact));
  ExpectSuccess(Compile({"--from", artifact, "-o", dir_ / "wide.aicf", "--precision=fp32"}));
  EXPECT_TRUE(StorageOf(dir_ / "wide.aicf").empty());
  ExpectSuccess(Compile({model_, "-o", dir_ / "plain.aicf"}));
  EXPECT_EQ(GetFile(dir_ / "wide.aicf"), GetFile(dir_ / "plain.aicf"));
}

TEST_F(Precision, AValueIsWidenedByAnEdit) {
  const std::string artifact = Narrow("a.aicf");
  Json value;
  for (const Json& d : StorageOf(artifact)) {
    if (d.at("subject").get<std::string>().starts_with("value")) value = d;
  }
  ASSERT_FALSE(value.is_null());
  const std::string node = value.at("nodes").at(0);
  const std::string set = "--set=node:" + node + ".storage=";
  ExpectSuccess(Compile({"--from", artifact, "-o", dir_ / "wide.aicf", set + "f32"}));
  int policy = 0;
  for (const Json& d : StorageOf(dir_ / "wide.aicf")) {
    if (d.at("subject") != value.at("subject")) continue;
    EXPECT_EQ(d.at("choice"), "f32");
    policy += d.at("reason").get<std::string>().starts_with("policy") ? 1 : 0;
  }
  EXPECT_EQ(policy, 1);
  ExpectRight(dir_ / "wide.aicf");
  ExpectFailure("aicf-compile", Compile({"--from", artifact, "-o", dir_ / "no.aicf", set + "i8"}),
                2, "legal are");
}

TEST_F(Precision, AMathModeThatTheTargetHasNotIsOneWarning) {
  const auto expect = [&](const Args& flags, const std::string& warning) {
    Args all = {"-o", dir_ / "math.aicf", "--force", "--no-images"};
    all.insert(all.end(), flags.begin(), flags.end());
    const ToolResult r = Compile(all);
    EXPECT_EQ(r.exit_code, 0) << r.err;
    EXPECT_EQ(r.err, warning.empty() ? "" : "aicf-compile: warning: math mode " + warning + "\n");
  };
  expect({model_, "--target=cpu:avx2", "--math=tf32"},
         "tf32: cpu:avx2 forms no products in tf32; they are formed as in fp32");
  expect({model_, "--target=cuda:sm_80", "--math=int8"},
         "int8: cuda:sm_80 forms no products in int8; they are formed as in fp32");
  expect({model_, "--target=cpu:avx2", "--policy=gemm=fp16,conv=fp16"},
         "fp16: cpu:avx2 forms no products in fp16; they are formed as in fp32");
  expect({model_, "--target=cpu:avx2", "--math=int8"}, "");
  expect({model_, "--target=cuda:sm_80", "--math=tf32"}, "");
  // Where an artifact is compiled for another target, nobody asks for the mode that it records.
  std::filesystem::copy_file(dir_ / "math.aicf", dir_ / "gpu.aicf");
  expect({"--from", dir_ / "gpu.aicf", "--target=cpu:avx2"}, "");
}

TEST_F(Precision, AnOverflowIsFoundAndItsPinMendsIt) {
  std::string artifact = Narrow("a.aicf");
  ToolResult r = VerifyLarge(artifact);
  ExpectFailure("aicf-run", r, 1, "");
  EXPECT_NE(r.out.find("are infinite in f16"), std::string::npos) << r.out;
  // The operand of the product first, then what it makes of it.
  for (int i = 0; i < 4 && r.exit_code == 1; ++i) {
    const std::string next = dir_ / ("pinned" + std::to_string(i) + ".aicf");
    ExpectSuccess(Compile({"--from", artifact, "-o", next, PinOf(r.out)}));
    artifact = next;
    r = VerifyLarge(artifact);
  }
  ExpectSuccess(r);
}

TEST_F(Precision, SamplesShowWhatIsTooLarge) {
  const std::string artifact = Narrow("a.aicf", {"--golden=x:" + (dir_ / "large.npy")});
  int ranges = 0;
  for (const Json& d : StorageOf(artifact)) {
    ranges += d.at("reason").get<std::string>().find("on a sample") != std::string::npos ? 1 : 0;
  }
  EXPECT_GE(ranges, 1);
  ExpectSuccess(VerifyLarge(artifact));
  ExpectSuccess(Compile({"--from", artifact, "-o", dir_ / "b.aicf"}));
  EXPECT_EQ(GetFile(dir_ / "b.aicf"), GetFile(artifact)) << "the samples in the artifact count";
}

TEST_F(Precision, NamesWhatItCannotBe) {
  const std::string out = dir_ / "no.aicf";
  ExpectFailure("aicf-compile", Compile({model_, "-o", out, "--precision=int8"}), 2, "--calibrate");
  ExpectFailure("aicf-compile", Compile({model_, "-o", out, "--precision=fp17"}), 2,
                "expected fp32, fp16, bf16, int8 or fp8");
}

}  // namespace
}  // namespace aicf::testing
