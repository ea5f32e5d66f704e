// Tokenizers in the metadata of GGUF files, one of each kind made by hand; then files that are
// wrong.
#include "compiler/import/tokenizer/gguf_tokenizer.h"

#include <gtest/gtest.h>

#include <random>

#include "compiler/import/gguf/testing.h"
#include "runtime/text/tokenizer.h"

namespace aicf {
namespace {

using namespace aicf::testing;  // NOLINT
using Ids = std::vector<uint32_t>;

std::string KeyOf(const std::string& name) { return "tokenizer.ggml." + name; }
std::string TextValue(const std::string& name, const std::string& text) {
  return GgufValue(KeyOf(name), 8, GgufString(text));
}
std::string IdValue(const std::string& name, uint32_t id) {
  return GgufValue(KeyOf(name), 4, Raw(id));
}
std::string FlagValue(const std::string& name, bool flag) {
  return GgufValue(KeyOf(name), 7, std::string(1, flag ? '\1' : '\0'));
}
std::string TextsValue(const std::string& name, const std::vector<std::string>& texts) {
  std::string payload;
  for (const std::string& text : texts) payload += GgufString(text);
  return GgufValue(KeyOf(name), 9, GgufArray(8, texts.size(), payload));
}
template <class T>
std::string NumbersValue(const std::string& name, const std::vector<T>& values) {
  std::string payload;
  for (const T value : values) payload += Raw(value);
  return GgufValue(KeyOf(name), 9,
                   GgufArray(std::is_same_v<T, float> ? 6 : 5, values.size(), payload));
}

Result<std::optional<GgufTokenizer>> ReadValues(const std::vector<std::string>& values) {
  GgufParts parts;
  parts.values = values;
  const auto file = ParseGguf(parts.Bytes());
  EXPECT_TRUE(file.ok()) << file.status().ToString();
  return ReadGgufTokenizer(*file);
}

struct Made {
  GgufTokenizer read;
  text::Tokenizer tokenizer;
};
Made MustMake(const std::vector<std::string>& values) {
  auto read = ReadValues(values);
  EXPECT_TRUE(read.ok() && *read) << read.status().ToString();
  auto tokenizer = text::Tokenizer::Create((*read)->data);
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status().ToString();
  return {**read, *tokenizer};
}

// GPT-2's alphabet spells a space as U+0120 and a line feed as U+010A.
const std::vector<std::string> kByteTokens = {
    "a", "b", "Ġ", "ab", "Ġab", "1", "Ċ", "<|im_end|>", "<|im_start|>", "  ", "ĠĠ", "語"};
const std::vector<int32_t> kByteTypes = {1, 1, 1, 1, 1, 1, 1, 3, 3, 4, 1, 1};

std::vector<std::string> ByteLevelValues(const std::string& pre = "smollm") {
  return {TextValue("model", "gpt2"),
          TextValue("pre", pre),
          TextsValue("tokens", kByteTokens),
          NumbersValue("token_type", kByteTypes),
          TextsValue("merges", {"a b", "Ġ ab", "Ġ Ġ"}),
          IdValue("bos_token_id", 8),
          IdValue("eos_token_id", 6),
          IdValue("unknown_token_id", 7)};
}

TEST(GgufTokenizer, NoneIsNoError) {
  EXPECT_EQ(ReadValues({})->has_value(), false);
  EXPECT_EQ(ReadValues({TextValue("model", "none")})->has_value(), false);
}

TEST(GgufTokenizer, ByteLevel) {
  const auto [read, t] = MustMake(ByteLevelValues());
  EXPECT_EQ(*t.Encode("ab ab11\n"), (Ids{3, 4, 5, 5, 6}));
  // A token that a user has defined is found first; what is not spelled in the alphabet never is.
  EXPECT_EQ(*t.Encode("a  b"), (Ids{0, 9, 1}));
  EXPECT_EQ(*t.Encode("語"), Ids{});
  EXPECT_EQ(*t.Encode("<|im_end|>", {.allow_special = true}), Ids{7});
  EXPECT_EQ(t.Encode("<|im_end|>")->size(), 0u);
  EXPECT_EQ(*t.Decode(Ids{4, 9, 11}), " ab  語");
  EXPECT_EQ(read.end_tokens, (Ids{6, 7}));
  EXPECT_EQ(read.data.unknown, std::nullopt);
  EXPECT_FALSE(read.data.add_bos);
}

TEST(GgufTokenizer, WhatTheNameOfTheSplittingSays) {
  const auto llama = MustMake(ByteLevelValues("llama-bpe"));
  EXPECT_EQ(*llama.tokenizer.Encode("ab"), (Ids{8, 3}));
  EXPECT_TRUE(llama.read.data.ignore_merges);
  auto values = ByteLevelValues("llama-bpe");
  values.push_back(FlagValue("add_bos_token", false));
  values.push_back(FlagValue("add_eos_token", true));
  EXPECT_EQ(*MustMake(values).tokenizer.Encode("ab"), (Ids{3, 6}));
  EXPECT_EQ(MustMake(ByteLevelValues("qwen2")).read.data.normalizers.size(), 1u);
  for (const char* name : {"default", "gpt-2", "olmo", "mpt", "falcon", "starcoder", "refact",
                           "command-r", "dbrx", "stablelm2", "qwen35", "tekken", "gpt-4o",
                           "deepseek-llm", "deepseek-coder", "deepseek-v3", "glm4"}) {
    EXPECT_EQ(
        MustMake(ByteLevelValues(name)).tokenizer.Encode("ab ab", {.add_special = false})->back(),
        4u)
        << name;
  }
  const Status unknown = ReadValues(ByteLevelValues("nobody's")).status();
  EXPECT_EQ(unknown.code(), Code::kUnsupported);
  EXPECT_NE(unknown.message().find("nobody's"), std::string::npos);
}

std::vector<std::string> ScoredValues() {
  return {TextValue("model", "llama"),
          TextsValue("tokens", {"<unk>", "<s>", "</s>", "<0x0A>", "▁", "a", "b", "ab", "▁ab",
                                "<end_of_turn>"}),
          NumbersValue<float>("scores", {0, 0, 0, 0, -1, -2, -3, -4, -5, 0}),
          NumbersValue<int32_t>("token_type", {2, 3, 3, 6, 1, 1, 1, 1, 0, 3})};
}

TEST(GgufTokenizer, SentencePiece) {
  const auto [read, t] = MustMake(ScoredValues());
  EXPECT_EQ(*t.Encode("ab ab\nc"), (Ids{1, 8, 8, 3, 0}));
  EXPECT_EQ(read.end_tokens, (Ids{2, 9}));
  auto values = ScoredValues();
  values.push_back(FlagValue("add_space_prefix", false));
  values.push_back(IdValue("eos_token_id", 9));
  const auto bare = MustMake(values);
  EXPECT_EQ(*bare.tokenizer.Encode("ab"), (Ids{1, 7}));
  EXPECT_EQ(bare.read.data.eos, 9u);
  // The end of a turn swallows white space in Phi-3.
  values.push_back(GgufValue("general.name", 8, GgufString("Phi-3 mini")));
  EXPECT_EQ(*MustMake(values).tokenizer.Encode("<end_of_turn> \nab", {.allow_special = true}),
            (Ids{1, 9, 7}));
}

TEST(GgufTokenizer, MergesOfCharacters) {
  auto values = ScoredValues();
  values[0] = TextValue("model", "gemma4");
  values.push_back(TextsValue("merges", {"a b", "▁ ab"}));
  values.push_back(IdValue("bos_token_id", 1));
  EXPECT_EQ(*MustMake(values).tokenizer.Encode("ab ab\n"), (Ids{1, 7, 8, 3}));
}

TEST(GgufTokenizer, Unigram) {
  auto values = ScoredValues();
  values[0] = TextValue("model", "t5");
  values.push_back(IdValue("unknown_token_id", 0));
  values.push_back(IdValue("eos_token_id", 2));
  values.push_back(FlagValue("add_space_prefix", true));
  values.push_back(FlagValue("remove_extra_whitespaces", true));
  EXPECT_EQ(*MustMake(values).tokenizer.Encode("  ab  ab cc"), (Ids{8, 8, 4, 0, 2}));
  values.push_back(GgufValue(KeyOf("precompiled_charsmap"), 9, GgufArray(0, 1, "x")));
  const Status status = ReadValues(values).status();
  EXPECT_EQ(status.code(), Code::kUnsupported);
  EXPECT_NE(status.message().find("precompiled_charsmap"), std::string::npos);
}

TEST(GgufTokenizer, WordPiece) {
  const std::vector<std::string> values = {
      TextValue("model", "bert"),
      TextsValue("tokens", {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "▁ab", "c", "▁.", "▁[unused0]"}),
      NumbersValue<int32_t>("token_type", {3, 3, 3, 3, 1, 1, 1, 1}),
      IdValue("bos_token_id", 2),
      IdValue("seperator_token_id", 3),
      IdValue("unknown_token_id", 1)};
  const auto [read, t] = MustMake(values);
  EXPECT_EQ(*t.Encode("ABc äb."), (Ids{2, 4, 5, 4, 6, 3}));
  EXPECT_EQ(*t.Encode("zz", {.add_special = false}), Ids{1});
  EXPECT_EQ(read.data.tokens[5], "##c");
  EXPECT_EQ(read.data.tokens[7], "[unused0]");
}

TEST(GgufTokenizer, WrongMetadataIsNamed) {
  const struct {
    const char* said;
    size_t position;
    std::string value;
  } kFaults[] = {
      {"rwkv", 0, TextValue("model", "rwkv")},
      {"tokenizer.ggml.tokens", 2, TextValue("tokens", "a")},
      {"11 types of 12", 3, NumbersValue("token_type", std::vector<int32_t>(11, 1))},
      {"a token of type 7", 3, NumbersValue("token_type", std::vector<int32_t>(12, 7))},
      {"a token of type -1", 3, NumbersValue("token_type", std::vector<int32_t>(12, -1))},
      {"a merge of one token", 4, TextsValue("merges", {"ab"})},
      {"a merge of one token", 4, TextsValue("merges", {""})},
      {"merge 1 of a token that is not there", 4, TextsValue("merges", {"a b", "a x"})},
      {"bos_token_id is 12 of 12 tokens", 5, IdValue("bos_token_id", 12)},
      {"eos_token_id", 6, TextValue("eos_token_id", "6")},
  };
  for (const auto& fault : kFaults) {
    auto values = ByteLevelValues();
    values[fault.position] = fault.value;
    const Status status = ReadValues(values).status();
    EXPECT_TRUE(status.code() == Code::kBadModel || status.code() == Code::kUnsupported);
    EXPECT_NE(status.message().find(fault.said), std::string::npos) << status.ToString();
  }
  auto values = ScoredValues();
  values.erase(values.begin() + 2);
  EXPECT_NE(ReadValues(values).status().message().find("no scores"), std::string::npos);
  values.push_back(NumbersValue<float>("scores", {1}));
  EXPECT_NE(ReadValues(values).status().message().find("1 scores of 10"), std::string::npos);
  // A file that says that there is no bos says it so.
  values = ByteLevelValues();
  values[5] = IdValue("bos_token_id", UINT32_MAX);
  EXPECT_EQ(MustMake(values).read.data.bos, std::nullopt);
}

// Whatever a file's bytes are: refused, or a tokenizer that encodes and decodes.
TEST(GgufTokenizer, DamagedFilesAreRefusedOrSound) {
  std::mt19937 random(1);
  for (const auto& values : {ByteLevelValues(), ScoredValues()}) {
    GgufParts parts;
    parts.values = values;
    const std::string whole = parts.Bytes();
    int sound = 0;
    for (int round = 0; round < 4000; ++round) {
      std::string damaged = whole;
      for (uint32_t n = random() % 4 + 1; n > 0; --n) {
        damaged[random() % damaged.size()] =
            static_cast<char>(random() % 2 ? random() % 16 : random());
      }
      const auto file = ParseGguf(damaged);
      if (!file.ok()) continue;
      const auto read = ReadGgufTokenizer(*file);
      if (!read.ok() || !*read) continue;
      const auto tokenizer = text::Tokenizer::Create((*read)->data);
      if (!tokenizer.ok()) continue;
      const auto ids = tokenizer->Encode("ab ab\n1<|im_end|>\xff", {.allow_special = true});
      ASSERT_TRUE(ids.ok()) << ids.status().ToString();
      EXPECT_TRUE(tokenizer->Decode(*ids).ok());
      ++sound;
    }
    EXPECT_GT(sound, 100);
  }
}

}  // namespace
}  // namespace aicf
