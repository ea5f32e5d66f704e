/// aicf-run's text of a language model, as a user sees it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "tests/cli/json.h"
#include "tests/cli/tiny_models.h"
#include "tests/cli/tool.h"

namespace aicf::testing {
namespace {

TEST(GenerateTool, AnArtifactWithoutLanguageModelSaysSo) {
  TempDir dir;
  const std::string artifact = PutArtifact(dir);
  for (const char* flag : {"--prompt=Once", "--tokens=1,2", "--bench-llm"}) {
    ExpectFailure("aicf-run", RunTool("aicf-run", {artifact, flag}), 4, "has no language model");
  }
  ExpectFailure("aicf-run", RunTool("aicf-run", {artifact, "--prompt-file=" + (dir / "absent")}), 8,
                "absent");
}

ToolResult Piped(std::vector<std::string> args, const std::string& input) {
  ToolOptions options;
  options.input = input;
  args.push_back("--prompt-file=-");
  return RunTool("aicf-run", args, options);
}

TEST(GenerateTool, APromptFromAPipeIsText) {
  TempDir dir;
  const std::string artifact = PutArtifact(dir);
  const auto expect = [&](const std::string& input, int code, const char* part) {
    ExpectFailure("aicf-run", Piped({artifact}, input), code, part);
  };
  expect("", 2, "standard input: it is empty");
  expect("\n", 2, "standard input: it is empty");
  expect("caf\xc3\xa9 \xe9t\xe9", 2, "standard input: byte 6 is not part of a text in UTF-8");
  expect(std::string("O\0n\0", 4), 2, "standard input: byte 1 is not");
  expect(std::string((size_t{64} << 20) + 1, 'a'), 2, "a prompt has at most 64 MiB");
  expect("Once", 4, "has no language model");
  PutFile(dir / "empty", "");
  ExpectFailure("aicf-run", RunTool("aicf-run", {artifact, "--prompt-file=" + (dir / "empty")}), 2,
                "empty: it is empty; an empty prompt is spelled --prompt=");
}

TEST(GenerateTool, APromptFromADirectoryOrFromNowhereIsAnError) {
  TempDir dir;
  const std::string artifact = PutArtifact(dir);
  ToolOptions closed;
  closed.closed = {0};
  ExpectFailure("aicf-run", RunTool("aicf-run", {artifact, "--prompt-file", "-"}, closed), 2,
                "standard input: it is empty");
  ExpectFailure("aicf-run", RunTool("aicf-run", {artifact, "--prompt-file=" + dir.path()}), 8,
                "a directory");
}

constexpr const char* kBegin = ", there was a little girl named Lily.";

class GenerateStories : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* const folder = std::getenv("AICF_TEST_MODELS");
    const std::string model =
        folder == nullptr ? "" : std::string(folder) + "/llm/stories260K/stories260K.F32.gguf";
    if (!std::filesystem::exists(model)) {
      GTEST_SKIP() << "AICF_TEST_MODELS names no folder with llm/stories260K";
    }
    ExpectSuccess(RunTool(
        "aicf-compile", {model, "-o", artifact_, "--context=128", "--prefill=32", "--decode=1,4"}));
  }

  ToolResult Run(std::vector<std::string> args) const {
    args.insert(args.begin(), {artifact_, "--threads=1"});
    return RunTool("aicf-run", args);
  }

  TempDir dir_;
  const std::string artifact_ = dir_ / "stories.aicf";
};

TEST_F(GenerateStories, TheTextAloneIsOnStdout) {
  const ToolResult r = Run({"--prompt=Once upon a time", "-n", "40"});
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_TRUE(r.out.starts_with(kBegin)) << r.out;
  EXPECT_EQ(CountOf(r.out, "tokens/s"), 0u);
  for (const char* part : {"load ", "prompt ", "first token ", "text  ", "ended by length"}) {
    EXPECT_EQ(CountOf(r.err, part), 1u) << part << " in " << r.err;
  }
  EXPECT_EQ(CountOf(r.err, "ids"), 0u);
  PutFile(dir_ / "prompt.txt", "Once upon a time\n");
  EXPECT_EQ(Run({"--prompt-file=" + (dir_ / "prompt.txt"), "-n", "40"}).out, r.out);
  EXPECT_EQ(Piped({artifact_, "-n", "40"}, "Once upon a time\n").out, r.out);
}

TEST_F(GenerateStories, IdsGoInAndOut) {
  const ToolResult text = Run({"--prompt=Once upon a time", "-n", "3", "--show-tokens"});
  EXPECT_EQ(CountOf(text.err, "1,403,407,261,378\n"), 1u) << text.err;
  EXPECT_EQ(CountOf(text.err, "432,383,286\n"), 1u) << text.err;
  const ToolResult ids = Run({"--tokens=1,403,407,261,378", "-n", "3"});
  EXPECT_EQ(ids.out, text.out);
}

TEST_F(GenerateStories, SeedsAndStopTextsHold) {
  const std::vector<std::string> drawn = {"--prompt=Once",   "-n",          "40",
                                          "--temperature=1", "--top-p=0.9", "--top-k=40"};
  const auto with_seed = [&](const std::string& seed) {
    std::vector<std::string> args = drawn;
    args.push_back("--seed=" + seed);
    return Run(args).out;
  };
  EXPECT_EQ(with_seed("3"), with_seed("3"));
  EXPECT_NE(with_seed("3"), with_seed("4"));
  const ToolResult r = Run({"--prompt=Once upon a time", "--stop=little girl", "--stop=never"});
  EXPECT_EQ(r.out, ", there was a \n");
  EXPECT_EQ(CountOf(r.err, "ended by stop-text"), 1u) << r.err;
}

TEST_F(GenerateStories, JsonIsOneObject) {
  const ToolResult r = Run({"--prompt=Once upon a time", "-n", "20", "--json"});
  ExpectSuccess(r);
  const auto json = Json::parse(r.out);
  EXPECT_TRUE(std::string(json["text"]).starts_with(", there was"));
  EXPECT_EQ(json["tokens"].size(), 20u);
  EXPECT_EQ(json["prompt_tokens"].size(), 5u);
  EXPECT_EQ(json["finish"], "length");
  for (const char* key : {"load_ms", "first_token_ms", "total_ms", "prompt_tokens_per_second",
                          "token_ms", "tokens_per_second"}) {
    EXPECT_GT(double(json[key]), 0) << key;
  }
}

TEST_F(GenerateStories, BenchHasTheColumnsOfOthers) {
  const std::vector<std::string> bench = {"--bench-llm", "-p", "40", "-n", "5,8", "-r", "2"};
  const ToolResult r = Run(bench);
  ExpectSuccess(r);
  EXPECT_TRUE(r.out.starts_with("| model | size ")) << r.out;
  for (const char* part : {" pp40 |", " tg5 |", " tg8 |", " ± "}) {
    EXPECT_GE(CountOf(r.out, part), 1u) << part << " in " << r.out;
  }
  std::vector<std::string> more = bench;
  more.insert(more.end(), {"--json", "--batch=1,3"});
  const auto json = Json::parse(Run(more).out);
  ASSERT_EQ(json["tests"].size(), 6u);
  EXPECT_EQ(json["tests"][3]["test"], "pp40 x3");
  EXPECT_EQ(json["tests"][3]["samples_ts"].size(), 2u);
  EXPECT_GT(double(json["tests"][5]["avg_ts"]), 0);
  const auto deep = Json::parse(
      Run({"--bench-llm", "-p", "0", "-n", "5", "-d", "0,40", "-r", "1", "--batch=2", "--json"})
          .out);
  ASSERT_EQ(deep["tests"].size(), 2u);
  EXPECT_EQ(deep["tests"][0]["test"], "tg5 x2");
  EXPECT_EQ(deep["tests"][1]["test"], "tg5 @ d40 x2");
  EXPECT_EQ(deep["tests"][1]["n_depth"], 40);
}

TEST_F(GenerateStories, WhatDoesNotFitSaysWhy) {
  const auto expect = [&](const std::vector<std::string>& args, int code, const char* part) {
    ExpectFailure("aicf-run", Run(args), code, part);
  };
  expect({"--prompt=Once", "--chat"}, 4, "no chat template");
  std::string story;
  for (int i = 0; i < 40; ++i) story += "Once upon a time ";
  ExpectFailure("aicf-run", Piped({artifact_}, story), 2, "the context has room for 128");
  expect({"--tokens=1,512"}, 2, "token 1 is the id 512, the vocabulary has 512");
  expect({"--bench-llm", "-p", "129"}, 2,
         "the prompt has 129 tokens, the context has room for 128");
  expect({"--bench-llm", "-n", "129", "-p", "0"}, 2, "does not fit the context of 128");
  expect({"--bench-llm", "-n", "40", "-p", "0", "-d", "100"}, 2,
         "a text of 40 tokens behind 100 does not fit the context of 128");
}

}  // namespace
}  // namespace aicf::testing
