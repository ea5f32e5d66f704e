/// Decisions exported, changed and given back; artifacts as the source of others.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/cli/tiny_models.h"
#include "tests/cli/tool.h"

namespace aicf::testing {
namespace {

/// Replaces the first `from` that follows `after`; fails the test where there is none.
std::string Changed(std::string text, const std::string& after, const std::string& from,
                    const std::string& to) {
  const size_t begin = text.find(after);
  const size_t at = begin == std::string::npos ? begin : text.find(from, begin);
  EXPECT_NE(at, std::string::npos) << after << " " << from;
  if (at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

class Editing : public ::testing::Test {
 protected:
  void SetUp() override { artifact_ = PutArtifact(dir_); }

  ToolResult Compile(std::vector<std::string> args) { return RunTool("aicf-compile", args); }
  std::string Kernel(const std::string& artifact, const std::string& step) {
    const std::string text = RunTool("aicf-inspect", {artifact, "--step=" + step}).out;
    const size_t at = text.find("kernel ");
    return text.substr(at, text.find('\n', at) - at);
  }

  TempDir dir_;
  std::string artifact_;
};

TEST_F(Editing, AnExportedFileGivenBackChangesNothing) {
  ExpectSuccess(Compile(
      {"--from", artifact_, "-o", dir_ / "a.aicf", "--export-decisions", dir_ / "d.jsonl"}));
  ExpectSuccess(
      Compile({"--from", artifact_, "-o", dir_ / "b.aicf", "--decisions", dir_ / "d.jsonl"}));
  EXPECT_EQ(GetFile(dir_ / "a.aicf"), GetFile(artifact_));
  EXPECT_EQ(GetFile(dir_ / "b.aicf"), GetFile(artifact_));
}

TEST_F(Editing, OneChangedChoiceIsTheOnlyChange) {
  ExpectSuccess(Compile({"--from", artifact_, "--export-decisions", dir_ / "d.jsonl",
                         "--stop-after=plan", "-o", dir_ / "plan.txt"}));
  const std::string decisions = GetFile(dir_ / "d.jsonl");
  const std::string chosen = "\"choice\":\"";
  const size_t step = decisions.find("\"kind\":\"kernel\"");
  const size_t begin = decisions.find(chosen, step) + chosen.size();
  const std::string kernel = decisions.substr(begin, decisions.find('"', begin) - begin);
  const std::string family = kernel.substr(0, kernel.find('.', 4));
  PutFile(dir_ / "e.jsonl",
          Changed(decisions, "\"kind\":\"kernel\"", chosen + kernel, chosen + family + ".ref"));
  ExpectSuccess(Compile({"--from", artifact_, "-o", dir_ / "e.aicf", "--decisions",
                         dir_ / "e.jsonl", "--export-decisions", dir_ / "made.jsonl"}));
  const std::string made = GetFile(dir_ / "made.jsonl");
  EXPECT_NE(made.find(chosen + family + ".ref\",\"reason\":\"policy\""), std::string::npos) << made;
  // Only the kernel that packed its weights said so.
  const auto unpacked = [](const std::string& lines) {
    return CountOf(lines, "\n") - CountOf(lines, "\"kind\":\"packing\"");
  };
  EXPECT_EQ(unpacked(made), unpacked(decisions));
}

TEST_F(Editing, SetNamesStepsAndNodes) {
  const ToolResult by_step =
      Compile({"--from", artifact_, "-o", dir_ / "s.aicf", "--set=step.0.kernel=ref"});
  ExpectSuccess(by_step);
  EXPECT_NE(Kernel(dir_ / "s.aicf", "0"), Kernel(artifact_, "0"));
  // The edit stays with the artifact, until it is dropped.
  ExpectSuccess(Compile({"--from", dir_ / "s.aicf", "-o", dir_ / "again.aicf"}));
  EXPECT_EQ(GetFile(dir_ / "again.aicf"), GetFile(dir_ / "s.aicf"));
  ExpectSuccess(Compile({"--from", dir_ / "s.aicf", "--drop-edits", "-o", dir_ / "back.aicf"}));
  EXPECT_EQ(GetFile(dir_ / "back.aicf"), GetFile(artifact_));
}

TEST_F(Editing, TwoEditsOfOneDecisionAreAnErrorUnlessTheyAgree) {
  const std::string once = "--set=step.0.kernel=ref";
  ExpectSuccess(Compile({"--from", artifact_, "-o", dir_ / "agree.aicf", once, once}));
  // The artifact's own edit is not one of this command: it is replaced.
  const std::string line = Kernel(artifact_, "0");
  const std::string mine = "--set=step.0.kernel=" + line.substr(line.rfind(' ') + 1);
  ExpectSuccess(Compile({"--from", dir_ / "agree.aicf", "-o", dir_ / "mine.aicf", mine}));
  EXPECT_EQ(Kernel(dir_ / "mine.aicf", "0"), Kernel(artifact_, "0"));
  ExpectFailure("aicf-compile",
                Compile({"--from", dir_ / "agree.aicf", "-o", dir_ / "never.aicf", once, mine}), 2,
                "contradicts");
}

TEST_F(Editing, WhatCannotBeHonouredSaysWhyAndWritesNothing) {
  const std::string out = dir_ / "no.aicf";
  ExpectFailure("aicf-compile", Compile({"--from", artifact_, "-o", out, "--set=step.0.math=fp16"}),
                4, "multiplies in fp16");
  ExpectFailure("aicf-compile",
                Compile({"--from", artifact_, "-o", out, "--set=step.0.kernel=nothing"}), 2,
                "legal are");
  ExpectFailure("aicf-compile", Compile({"--from", artifact_, "-o", out, "--set=step.99.kernel=x"}),
                2, "step.99");
  PutFile(dir_ / "bad.jsonl", "{}\n");
  ExpectFailure("aicf-compile",
                Compile({"--from", artifact_, "-o", out, "--decisions", dir_ / "bad.jsonl"}), 2,
                "line 1");
  for (const std::string& entry : dir_.Entries()) EXPECT_NE(entry, "no.aicf");
}

TEST_F(Editing, FusionsStayApartWhenAsked) {
  ExpectSuccess(Compile({"--from", artifact_, "--export-decisions", dir_ / "d.jsonl",
                         "--stop-after=plan", "-o", dir_ / "plan.txt"}));
  const std::string decisions = GetFile(dir_ / "d.jsonl");
  const std::string edge = "\"choice\":\"epilogue of gemm\"";
  PutFile(dir_ / "e.jsonl",
          Changed(decisions, "\"kind\":\"epilogue\"", edge, "\"choice\":\"separate\""));
  const ToolResult r = Compile({"--from", artifact_, "-o", dir_ / "e.aicf", "--decisions",
                                dir_ / "e.jsonl", "--export-decisions", dir_ / "made.jsonl"});
  ExpectSuccess(r);
  EXPECT_NE(GetFile(dir_ / "made.jsonl").find("keeps them apart"), std::string::npos);
}

TEST_F(Editing, RetargetsThereAndBack) {
  ExpectSuccess(
      Compile({"--from", artifact_, "-o", dir_ / "cuda.aicf", "--target=cuda", "--no-images"}));
  ExpectSuccess(
      Compile({dir_ / "tiny.onnx", "-o", dir_ / "direct.aicf", "--target=cuda", "--no-images"}));
  EXPECT_EQ(GetFile(dir_ / "cuda.aicf"), GetFile(dir_ / "direct.aicf"));
  ExpectSuccess(RunTool("aicf-run", {dir_ / "cuda.aicf", "--device=cpu", "--duration=0"}));
  ExpectSuccess(Compile({"--from", dir_ / "cuda.aicf", "-o", dir_ / "back.aicf", "--target=cpu"}));
  EXPECT_EQ(GetFile(dir_ / "back.aicf"), GetFile(artifact_));
}

TEST_F(Editing, FromExcludesWhatIsAboutTheModel) {
  const std::string out = dir_ / "no.aicf";
  for (const std::string flag : {"--shapes=x:2x4", "--bucket=b=x:2x4", "--check",
                                 "--stop-after=graph", "--disable-pass=fold-constants"}) {
    const ToolResult r = Compile({"--from", artifact_, "-o", out, flag});
    ExpectFailure("aicf-compile", r, 2, flag.substr(0, flag.find('=')));
  }
  ExpectFailure("aicf-compile", Compile({dir_ / "tiny.onnx", "--from", artifact_, "-o", out}), 2,
                "--from");
  ExpectSuccess(Compile({dir_ / "tiny.onnx", "-o", dir_ / "strip.aicf", "--strip"}));
  ExpectFailure("aicf-compile", Compile({"--from", dir_ / "strip.aicf", "-o", out}), 4, "--strip");
}

TEST_F(Editing, RebuildGivesTheSameBytesOrSaysWhatDiffers) {
  const ToolResult same = Compile({"--rebuild", artifact_, dir_ / "tiny.onnx"});
  ExpectSuccess(same);
  EXPECT_NE(same.out.find("the same"), std::string::npos) << same.out;
  ExpectSuccess(Compile({"--from", artifact_, "-o", dir_ / "edited.aicf", "--set=step.0.kernel=ref",
                         "--disable-pass=form-fma"}));
  ExpectSuccess(Compile({"--rebuild", dir_ / "edited.aicf", dir_ / "tiny.onnx"}));
  PutModel(dir_, "other", [](onnx::ModelProto& m) { m.set_producer_name("someone else"); });
  ExpectFailure("aicf-compile", Compile({"--rebuild", artifact_, dir_ / "other.onnx"}), 2, "model");
}

TEST_F(Editing, APatternThatMatchesNoNodeIsSaid) {
  const std::string clause = "--policy=node:no_such*=ref";
  const ToolResult said = Compile({dir_ / "tiny.onnx", "-o", dir_ / "said.aicf", clause});
  EXPECT_EQ(said.exit_code, 0);
  EXPECT_NE(said.err.find("warning: policy: no step comes from a source node \"no_such*\""),
            std::string::npos)
      << said.err;
  ExpectFailure("aicf-compile",
                Compile({dir_ / "tiny.onnx", "-o", dir_ / "never.aicf", clause, "--policy-strict"}),
                4, "no_such*");
}

TEST_F(Editing, APolicyThatNamesNoKernelOfTheTargetIsOneError) {
  const auto expect = [&](const std::string& clause, int code, const std::string& part) {
    ExpectFailure("aicf-compile",
                  Compile({dir_ / "tiny.onnx", "-o", dir_ / "never.aicf", "--policy=" + clause}),
                  code, part);
  };
  expect("elementwise=rref", 2, "did you mean cpu.elementwise.ref?");
  expect("conv=implicit_gemm", 2, "cuda.conv.implicit_gemm is a kernel for GPUs");
  expect("elementwise=blis", 2, "cpu.gemm.blis is a kernel of the family gemm");
  expect("attention=cudnn", 4, "there is no builder of cuDNN's operation graphs");
  EXPECT_FALSE(std::filesystem::exists(dir_ / "never.aicf"));
}

// What an artifact was compiled with says nothing about another target.
TEST_F(Editing, AnArtifactsOwnPolicyMayNameKernelsOfItsTarget) {
  const std::string own = dir_ / "own.aicf";
  ExpectSuccess(Compile({dir_ / "tiny.onnx", "-o", own, "--policy=elementwise=cpu.elementwise."}));
  const std::vector<std::string> other = {"--from",        own,          "-o", dir_ / "gpu.aicf",
                                          "--target=cuda", "--no-images"};
  EXPECT_EQ(Compile(other).exit_code, 0);
  std::vector<std::string> again = other;
  again.insert(again.end(), {"--force", "--policy=elementwise=cpu.elementwise."});
  ExpectFailure("aicf-compile", Compile(again), 2, "is a kernel for CPUs, and the target is cuda");
}

TEST_F(Editing, PolicyByNodeAndByStep) {
  const ToolResult r = Compile({dir_ / "tiny.onnx", "-o", dir_ / "p.aicf", "--policy=step.0=ref"});
  ExpectSuccess(r);
  EXPECT_NE(Kernel(dir_ / "p.aicf", "0"), Kernel(artifact_, "0"));
  PutFile(dir_ / "policy.txt",
          "# everything by the oracle\nnode:no#node=fp32\nnode:*=ref  # all\n");
  const ToolResult by_node =
      Compile({dir_ / "tiny.onnx", "-o", dir_ / "n.aicf", "--policy", dir_ / "policy.txt"});
  EXPECT_EQ(by_node.exit_code, 0);
  EXPECT_NE(by_node.err.find("\"no#node\""), std::string::npos) << by_node.err;
  const auto inspected =
      nlohmann::json::parse(RunTool("aicf-inspect", {dir_ / "n.aicf", "--json"}).out);
  ASSERT_FALSE(inspected["steps"].empty());
  for (const auto& step : inspected["steps"]) {
    EXPECT_TRUE(step["kernel"].get<std::string>().ends_with(".ref")) << step["kernel"];
  }
  ExpectFailure("aicf-compile",
                Compile({dir_ / "tiny.onnx", "-o", dir_ / "no.aicf", "--policy=step.77=ref"}), 2,
                "step 77");
}

}  // namespace
}  // namespace aicf::testing
