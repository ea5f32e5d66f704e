/// The tools' views of a language model: they answer the same questions as for any other artifact,
/// but with many entry points, states and layers.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "compiler/import/language/hf_testing.h"
#include "tests/cli/json.h"
#include "tests/cli/tool.h"
#include "tools/common/npy.h"
#include "tools/common/text.h"

namespace aicf::testing {
namespace {

using Flags = std::vector<std::string>;

const std::vector<std::string>& EntryNames() {
  static const std::vector<std::string> names = {"prefill_8", "prefill_16", "decode_1", "decode_4"};
  return names;
}

/// A Llama of two layers with weights of zeros: what is asked about is the plan.
class LanguageViews : public ::testing::Test {
 protected:
  void SetUp() override { language::WriteParts(model_, language::LlamaParts()); }

  ToolResult Compile(const std::string& artifact, Flags flags = {}) const {
    flags.insert(flags.begin(), {model_, "--context=32", "--page=8", "--prefill=8,16",
                                 "--decode=1,4", "--target=cpu:avx2"});
    if (!artifact.empty()) flags.insert(flags.end(), {"-o", artifact, "--force"});
    return RunTool("aicf-compile", flags);
  }

  std::string Artifact() const {
    ExpectSuccess(Compile(artifact_));
    return artifact_;
  }

  static ToolResult Ask(const Flags& flags) { return RunTool("aicf-inspect", flags); }

  static void ExpectParts(const std::string& text, const Flags& parts) {
    for (const std::string& part : parts)
      EXPECT_GE(CountOf(text, part), 1u) << part << "\n" << text;
  }

  TempDir dir_;
  const std::string model_ = dir_ / "tiny";
  const std::string artifact_ = dir_ / "tiny.aicf";
};

TEST_F(LanguageViews, StagesPrintEveryEntryPoint) {
  for (const char* stage : {"graph", "lowered", "plan"}) {
    const ToolResult r = Compile("", {std::string("--stop-after=") + stage});
    ExpectSuccess(r);
    for (const std::string& name : EntryNames()) {
      EXPECT_EQ(CountOf(r.out, "entry \"" + name + "\""), 1u) << stage << " " << name;
    }
  }
}

// The model says 64 positions. Frequencies that are divided by 4 make room for 256.
TEST_F(LanguageViews, AContextBeyondTheTrainedOneIsSaid) {
  const auto compile = [&](const char* context) {
    return RunTool("aicf-compile", {model_, context, "--page=8", "--prefill=8", "--decode=1",
                                    "--target=cpu:avx2", "-o", artifact_, "--force"});
  };
  ExpectSuccess(compile("--context=64"));
  const ToolResult beyond = compile("--context=65");
  EXPECT_EQ(beyond.exit_code, 0);
  EXPECT_EQ(CountOf(beyond.err, "\n"), 1u) << beyond.err;
  ExpectParts(beyond.err, {"warning: --context=65: the model was made for 64 positions"});
  ExpectParts(Ask({artifact_, "--summary"}).out, {"65 positions, the model was made for 64"});
  language::HfParts stretched = language::LlamaParts();
  stretched.config["rope_scaling"] = {{"type", "linear"}, {"factor", 4.0}};
  language::WriteParts(model_, stretched);
  ExpectSuccess(compile("--context=256"));
  ExpectParts(compile("--context=257").err, {"the model was made for 256 positions"});
}

TEST_F(LanguageViews, DumpsNameTheirEntryPoint) {
  for (const char* pass : {"recognize-attention", "dead-steps"}) {
    const ToolResult r = Compile(artifact_, {std::string("--dump-after=") + pass});
    ExpectSuccess(r);
    EXPECT_EQ(CountOf(r.out, std::string("# after ") + pass), EntryNames().size());
    for (const std::string& name : EntryNames()) {
      EXPECT_EQ(CountOf(r.out, std::string("# after ") + pass + ", entry point \"" + name + "\"\n"),
                1u)
          << name;
    }
  }
}

TEST_F(LanguageViews, CompilingExplainsOneLayer) {
  const ToolResult all = Compile(artifact_, {"--explain"});
  const ToolResult layer = Compile(artifact_, {"--explain=blk.1.*"});
  ExpectSuccess(layer);
  ExpectParts(layer.out,
              {"Decisions (", "blk.1.attention/aicf.Attention", "(entry decode_4)", "->"});
  EXPECT_EQ(CountOf(layer.out, "blk.0.feed_forward/RMSNormalization"), 0u);
  EXPECT_LT(layer.out.size() * 2, all.out.size() + layer.out.size());
  ExpectFailure("aicf-compile", Compile(dir_ / "no.aicf", {"--explain=blk.7.*"}), 2, "blk.7.*");
  EXPECT_FALSE(std::filesystem::exists(dir_ / "no.aicf"));
}

TEST_F(LanguageViews, ALayersNodesAndOneOfThem) {
  const ToolResult nodes = Ask({Artifact(), "--explain=blk.1.*", "--entry=decode_4"});
  ExpectSuccess(nodes);
  ExpectParts(nodes.out,
              {"nodes of entry point decode_4", "blk.1.attention/aicf.RotaryAppend: in step"});
  EXPECT_EQ(CountOf(nodes.out, "blk.0."), 0u);
  const ToolResult node = Ask({artifact_, "--explain=blk.1.attention/aicf.RotaryAppend"});
  ExpectSuccess(node);
  ExpectParts(node.out, {"--entry asks prefill_16, decode_1, decode_4", "cpu.append.", " us",
                         "in place of 'keys.1'", "in place of 'values.1'"});
  // The parts of the joint product are one buffer, which is named once.
  EXPECT_EQ(CountOf(node.out, "overwrites 'blk.1.attention/MatMul:0'"), 1u) << node.out;
  for (const std::string& line : tools::Split(node.out + nodes.out, '\n')) {
    EXPECT_LE(tools::DisplayWidth(line), 100u) << line;
  }
  ExpectFailure("aicf-inspect", Ask({artifact_, "--explain=*layers.1*"}), 2, "such as 'blk.0.");
}

TEST_F(LanguageViews, NumbersAreDecimal) {
  const Json data = Json::parse(Ask({Artifact(), "--json"}).out);
  const std::string text = Ask({artifact_}).out + Ask({artifact_, "--explain=blk.0.*"}).out;
  EXPECT_EQ(CountOf(text, "e+0"), 0u);
  EXPECT_EQ(CountOf(text, "e-0"), 0u);
  EXPECT_GT(data.at("decisions").size(), 100u);
}

TEST_F(LanguageViews, StateAndCacheAreShown) {
  constexpr const char* kCache = "8 pages of 8 positions for at most 4 requests";
  const ToolResult all = Ask({Artifact()});
  ExpectSuccess(all);
  ExpectParts(all.out, {"Language model\n", "architecture  llama\n", kCache, "no template",
                        "of each session: sampled, keys.0, values.0, keys.1, values.1"});
  const ToolResult memory = Ask({artifact_, "--memory"});
  ExpectParts(memory.out, {"Arena of entry point decode_4", "Beside the arena: ", kCache});
  const Json data = Json::parse(Ask({artifact_, "--json"}).out);
  EXPECT_EQ(data.at("language").at("pages"), 8);
  EXPECT_EQ(data.at("language").at("slots"), 4);
  uint64_t bytes = 0;
  for (const Json& state : data.at("states")) bytes += state.at("bytes").get<uint64_t>();
  EXPECT_GE(data.at("header").at("state_bytes").get<uint64_t>(), bytes);
  EXPECT_EQ(Json::parse(Ask({artifact_, "--memory", "--json"}).out).at("state_bytes"),
            data["header"]["state_bytes"]);
}

TEST_F(LanguageViews, KeysAndValuesAreStoredAsOtherValuesUnlessTheUserSaysOtherwise) {
  const auto keys_with = [&](const Flags& flags) {
    ExpectSuccess(Compile(artifact_, flags));
    const Json data = Json::parse(Ask({artifact_, "--json"}).out);
    for (const Json& state : data.at("states")) {
      if (state.at("name") == "keys.0") return state.at("dtype").get<std::string>();
    }
    return std::string("none");
  };
  EXPECT_EQ(keys_with({}), "f32");
  EXPECT_EQ(keys_with({"--precision=fp16"}), "f16");
  EXPECT_EQ(keys_with({"--precision=bf16"}), "bf16");
  EXPECT_EQ(keys_with({"--precision=bf16", "--cache-precision=fp32"}), "f32");
  EXPECT_EQ(keys_with({"--cache-precision=fp16"}), "f16");
}

TEST_F(LanguageViews, AnotherCacheIsAFactOfTheHeader) {
  Artifact();
  ExpectSuccess(Compile(dir_ / "wide.aicf", {"--cache=128"}));
  const ToolResult r = Ask({"--diff", artifact_, dir_ / "wide.aicf"});
  EXPECT_EQ(r.exit_code, 1);
  ExpectParts(r.out, {"peak memory", "\"cache\":64", "\"cache\":128", "Totals"});
}

TEST_F(LanguageViews, QuantisationsDifferInTheirWeights) {
  const char* const folder = std::getenv("AICF_TEST_MODELS");
  const std::string model = std::string(folder == nullptr ? "" : folder) + "/llm/stories260K/";
  if (!std::filesystem::exists(model + "stories260K.Q4_0.gguf")) {
    GTEST_SKIP() << "AICF_TEST_MODELS names no folder with llm/stories260K";
  }
  for (const std::string name : {"Q8_0", "Q4_0"}) {
    ExpectSuccess(RunTool("aicf-compile", {model + "stories260K." + name + ".gguf", "-o",
                                           dir_ / name, "--target=cpu:avx2"}));
  }
  const ToolResult r = Ask({"--diff", dir_ / "Q8_0", dir_ / "Q4_0"});
  EXPECT_EQ(r.exit_code, 1);
  ExpectParts(r.out, {"weights   ", "peak memory", "hash of the weights",
                      "more, with --json one by one", "less in B", "Totals"});
  EXPECT_EQ(CountOf(r.out, "Changed ("), 0u);
  EXPECT_LT(CountOf(r.out, "\n"), 50u);
  for (const std::string name : {"Q8_0", "Q4_0"}) {
    const ToolResult node = Ask({dir_ / name, "--explain=blk.2.attention/aicf.BlockMatMul"});
    ExpectParts(node.out, {"int8 (policy)", "not fp32: "});
  }
  // Its depth is no whole number of blocks: f16, which no kernel rounds.
  const ToolResult down = Ask({dir_ / "Q8_0", "--explain=blk.2.feed_forward/aicf.BlockMatMul.1"});
  ExpectParts(down.out, {"fp32 (only-legal)", "multiplies in int8"});
}

TEST_F(LanguageViews, RetargetsWithoutTheModel) {
  Artifact();
  std::filesystem::remove_all(model_);
  const ToolResult r = RunTool("aicf-compile", {"--from", artifact_, "-o", dir_ / "cuda.aicf",
                                                "--target=cuda:sm_90a", "--no-images"});
  ExpectSuccess(r);
  const Json before = Json::parse(Ask({artifact_, "--json"}).out);
  const Json after = Json::parse(Ask({dir_ / "cuda.aicf", "--json"}).out);
  EXPECT_EQ(after.at("header").at("target"), "cuda:sm_90a");
  EXPECT_EQ(after.at("language"), before.at("language"));
  EXPECT_EQ(after.at("entry_points").size(), EntryNames().size());
  // Weights of zeros: every token is the first one of the vocabulary, on either plan.
  const Flags prompt = {"--device=cpu", "--tokens=1,2,3", "-n", "12", "--show-tokens"};
  for (const std::string& artifact : {artifact_, dir_ / "cuda.aicf"}) {
    Flags flags = prompt;
    flags.insert(flags.begin(), artifact);
    const ToolResult run = RunTool("aicf-run", flags);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(CountOf(run.err, " 0,0,0,0,0,0,0,0,0,0,0,0\n"), 1u) << run.err;
  }
}

/// The artifact has 4 slots and a cache of 8 pages of 8 positions.
TEST_F(LanguageViews, TextsThatAreTimedTogetherHaveToFitTogether) {
  const std::string artifact = Artifact();
  const auto bench = [&](const Flags& flags) {
    Flags all = {artifact, "--threads=1", "--bench-llm", "-p", "0", "-r", "1"};
    all.insert(all.end(), flags.begin(), flags.end());
    return RunTool("aicf-run", all);
  };
  ExpectSuccess(bench({"-n", "2", "-d", "8", "--batch=1,4"}));
  ExpectSuccess(bench({"-n", "2", "--batch=5"}));
  ExpectFailure("aicf-run", bench({"-n", "2", "-d", "8", "--batch=5"}), 2,
                "5 requests of 10 tokens do not fit into the cache together: it takes a slot for "
                "each, of which the artifact has 4 (aicf-compile --decode)");
  const std::string cache = "the cache has 8 pages of 8 tokens (--cache)";
  // There is room for two of the prompts.
  ExpectFailure("aicf-run", bench({"-n", "2", "-d", "24", "--batch=4"}), 2, cache);
  // There is room for all prompts, but not for all texts behind them.
  ExpectFailure("aicf-run", bench({"-n", "18", "-d", "8", "--batch=4"}), 2, cache);
}

/// Weights of zeros draw tokens without end; without a tokenizer their ids are printed.
TEST_F(LanguageViews, ATextThatNobodyReadsEnds) {
  const std::string artifact = Artifact();
  ToolOptions options;
  options.stdout_reader_leaves = true;
  ExpectSuccess(RunTool("aicf-run", {artifact, "--tokens=1,2,3", "-n", "12"}, options));
}

TEST_F(LanguageViews, ATextOnAFullDiskIsIo) {
  if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full";
  const std::string command = std::string(AICF_BINARY_DIR) + "/bin/aicf-run " + Artifact() +
                              " --tokens=1,2,3 -n 12 >/dev/full 2>" + (dir_ / "err");
  EXPECT_EQ(WEXITSTATUS(system(command.c_str())), 8);
  EXPECT_EQ(GetFile(dir_ / "err"), "aicf-run: io: standard output: No space left on device\n");
}

TEST_F(LanguageViews, PromptsOfOneRowAreRefusedByTheFlagThatAsksForThem) {
  for (const std::string flag : {"--prefill", "--context"}) {
    const ToolResult r = RunTool("aicf-compile", {model_, "-o", dir_ / "no.aicf", flag + "=1"});
    ExpectFailure("aicf-compile", r, 2, flag + ": at least 2");
  }
}

// An entry point that runs without metas has four requests in the middle of a text, each of which
// appends a row of its own: of weights of zeros, to a cache of ones.
TEST_F(LanguageViews, RunsWithoutMetasAreOfMadeUpRequests) {
  ExpectSuccess(RunTool("aicf-compile", {model_, "--context=32", "--page=8", "--prefill=8",
                                         "--decode=1,4", "-o", artifact_}));
  const std::string states = dir_ / "states", ones = dir_ / "ones.npy";
  const auto run = [&](Flags flags) {
    flags.insert(flags.end(), {artifact_, "--entry=decode_4", "--iterations=1", "--duration=0",
                               "--export-state=" + states});
    ExpectSuccess(RunTool("aicf-run", flags));
    return tools::ReadNpy(states + "/keys.0.npy");
  };
  auto cache = run({});
  ASSERT_TRUE(cache.ok()) << cache.status().ToString();
  ASSERT_EQ(cache->dtype, DType::kF32);
  const float one = 1;
  for (size_t at = 0; at < cache->data.size(); at += sizeof one) {
    std::memcpy(&cache->data[at], &one, sizeof one);
  }
  const auto file = tools::SerializeNpy(cache->dtype, cache->shape, cache->data);
  PutFile(ones, std::string(reinterpret_cast<const char*>(file.data()), file.size()));
  const auto after = run({"--load-state=keys.0:" + ones});
  ASSERT_TRUE(after.ok()) << after.status().ToString();
  const size_t rows = static_cast<size_t>(after->shape[0] * after->shape[1]);
  const size_t bytes = after->data.size() / rows;
  size_t appended = 0;
  for (size_t row = 0; row < rows; ++row) {
    float first = 0;
    std::memcpy(&first, &after->data[row * bytes], sizeof first);
    appended += first == 0 ? 1 : 0;
  }
  EXPECT_EQ(appended, 4u);
  ExpectSuccess(RunTool("aicf-run", {artifact_, "--entry=decode_4", "--verify"}));
}

TEST_F(LanguageViews, RebuildsTheSameBytes) {
  const std::string artifact = Artifact();
  const ToolResult r = RunTool("aicf-compile", {"--rebuild", artifact, model_});
  ExpectSuccess(r);
  ExpectParts(r.out, {"the same ", " bytes as"});
  const auto extracted = RunTool("aicf-compile", {"--from", artifact, "-o", dir_ / "again.aicf"});
  ExpectSuccess(extracted);
  EXPECT_EQ(GetFile(dir_ / "again.aicf"), GetFile(artifact));
}

}  // namespace
}  // namespace aicf::testing
