// The files beside a tokenizer.json: which tokens they name, and which of their faults are found.
#include "compiler/import/tokenizer/hugging_face.h"

#include <gtest/gtest.h>

namespace aicf {
namespace {

using EndIds = std::vector<uint32_t>;

constexpr const char* kSmall = R"json({
  "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false},
  "added_tokens": [{"id": 2, "content": "<s>", "special": true}, {"id": 3, "content": "</s>", "special": true},
                   {"id": 4, "content": "<|im_end|>", "special": true}],
  "model": {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": []}})json";

TEST(HuggingFaceFiles, NameTokens) {
  const auto bare = ReadHuggingFaceText({.tokenizer = kSmall});
  ASSERT_TRUE(bare.ok()) << bare.status().ToString();
  EXPECT_EQ(bare->data.bos, std::nullopt);
  EXPECT_EQ(bare->end_tokens, (EndIds{3, 4}));
  EXPECT_EQ(bare->chat_template, "");

  const auto named = ReadHuggingFaceText(
      {.tokenizer = kSmall,
       .tokenizer_config = R"({"bos_token": "<s>", "eos_token": {"content": "<|im_end|>"},
                               "pad_token": null, "unk_token": "<unk>", "chat_template": "{{ x }}"})"});
  ASSERT_TRUE(named.ok()) << named.status().ToString();
  EXPECT_EQ(named->data.bos, 2u);
  EXPECT_EQ(named->data.eos, 4u);
  EXPECT_EQ(named->data.pad, std::nullopt);
  EXPECT_FALSE(named->data.add_bos);
  EXPECT_EQ(named->chat_template, "{{ x }}");
}

TEST(HuggingFaceFiles, EndsOfATextAndTemplates) {
  const auto ends = [](const char* config, const char* generation) {
    const auto read = ReadHuggingFaceText(
        {.tokenizer = kSmall, .config = config, .generation_config = generation});
    EXPECT_TRUE(read.ok()) << read.status().ToString();
    return read->end_tokens;
  };
  EXPECT_EQ(ends(R"({"eos_token_id": 0})", ""), (EndIds{0, 3, 4}));
  EXPECT_EQ(ends(R"({"eos_token_id": 0})", R"({"eos_token_id": [1, 3]})"), (EndIds{1, 3, 4}));
  EXPECT_EQ(ends("{}", R"({"eos_token_id": null})"), (EndIds{3, 4}));

  const HuggingFaceFiles files{
      .tokenizer = kSmall,
      .tokenizer_config = R"({"chat_template": [{"name": "tool_use", "template": "t"},
                                                {"name": "default", "template": "d"}]})"};
  EXPECT_EQ(ReadHuggingFaceText(files)->chat_template, "d");
  HuggingFaceFiles apart = files;
  apart.chat_template = "jinja";
  EXPECT_EQ(ReadHuggingFaceText(apart)->chat_template, "jinja");
}

TEST(HuggingFaceFiles, FaultsAreNamed) {
  const auto refused = [](HuggingFaceFiles files, const char* said) {
    files.tokenizer = kSmall;
    const Status status = ReadHuggingFaceText(files).status();
    EXPECT_EQ(status.code(), Code::kBadModel) << said;
    EXPECT_NE(status.message().find(said), std::string::npos) << status.ToString();
  };
  EXPECT_EQ(ReadHuggingFaceText({}).status().code(), Code::kBadModel);
  const std::string deep = "{\"a\":" + std::string(1000, '[');
  for (const std::string_view text :
       {std::string_view("["), std::string_view("[]"), std::string_view("{} x"),
        std::string_view("\xff"), std::string_view(deep), std::string_view("{\"a\": 1,}")}) {
    refused({.tokenizer_config = text}, "tokenizer_config.json");
    refused({.generation_config = text}, "generation_config.json");
    refused({.config = text}, "config.json");
  }
  refused({.config = R"({"a": {"eos": 1, "eos": 2}})"}, "\"eos\" is there twice");
  refused({.tokenizer_config = R"({"bos_token": 1})"}, "bos_token");
  refused({.tokenizer_config = R"({"eos_token": {"content": 1}})"}, "eos_token");
  refused({.tokenizer_config = R"({"chat_template": 1})"}, "chat_template");
  for (const char* id : {"5", "-1", "1.5", "1e400", "\"3\"", "18446744073709551616", "[[1]]"}) {
    const std::string text = StrCat("{\"eos_token_id\": ", id, "}");
    refused({.generation_config = text}, "generation_config.json");
    refused({.config = text}, "config.json");
  }
}

}  // namespace
}  // namespace aicf
