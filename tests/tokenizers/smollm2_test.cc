// A real model's tokenizer and chat template, compared with the ids that llama.cpp makes with them
// (smollm2_ids.txt). AICF_TEST_SMOLLM2 names the GGUF file; without it the test is skipped.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "compiler/import/tokenizer/chat_markers.h"
#include "compiler/import/tokenizer/gguf_tokenizer.h"
#include "runtime/text/chat.h"

namespace aicf {
namespace {

using Ids = std::vector<uint32_t>;

std::string FromHex(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

struct RecordedText {
  bool allow_special = false;
  std::string text;
  Ids ids;
};

std::vector<RecordedText> Recorded() {
  std::ifstream lines(std::string(AICF_SOURCE_DIR) + "/tests/tokenizers/smollm2_ids.txt");
  std::vector<RecordedText> out;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream in(line);
    std::string special, hex;
    in >> special >> hex;
    out.push_back({special == "1", FromHex(hex), {std::istream_iterator<uint32_t>(in), {}}});
  }
  return out;
}

class SmolLm2 : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* path = std::getenv("AICF_TEST_SMOLLM2");
    if (path == nullptr) GTEST_SKIP() << "AICF_TEST_SMOLLM2 names no file";
    auto file = gguf::ReadGguf(path);
    ASSERT_TRUE(file.ok()) << file.status().ToString();
    auto read = ReadGgufTokenizer(*file);
    ASSERT_TRUE(read.ok() && *read) << read.status().ToString();
    ends_ = (*read)->end_tokens;
    template_ = *file->Get<std::string_view>("tokenizer.chat_template");
    auto made = text::Tokenizer::Create((*read)->data);
    ASSERT_TRUE(made.ok()) << made.status().ToString();
    tokenizer_.emplace(*std::move(made));
  }

  std::optional<text::Tokenizer> tokenizer_;
  std::string template_;
  Ids ends_;
};

TEST_F(SmolLm2, GivesTheIdsOfLlamaCpp) {
  const auto recorded = Recorded();
  EXPECT_GT(recorded.size(), 100u);
  for (const auto& [special, text, ids] : recorded) {
    const auto encoded = tokenizer_->Encode(text, {.allow_special = special, .add_special = false});
    ASSERT_TRUE(encoded.ok());
    EXPECT_EQ(*encoded, ids) << text;
  }
  EXPECT_EQ(ends_, (Ids{0, 2}));
}

// The last two of the recorded texts are chats as transformers renders them.
TEST_F(SmolLm2, GivesTheChatsOfTransformers) {
  const auto family = text::ChatTemplateOf(RecognizeChatTemplate(template_));
  ASSERT_TRUE(family.ok()) << family.status().ToString();
  EXPECT_EQ(*family, schema::ChatTemplate::kSmollm);
  const std::vector<text::ChatMessage> chats[] = {{{"user", "What is the capital of France?"}},
                                                  {{"system", "Be brief."},
                                                   {"user", "  Hi there\n\n"},
                                                   {"assistant", "Hello!"},
                                                   {"user", "2+2=?"}}};
  const auto recorded = Recorded();
  ASSERT_GT(recorded.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    const auto ids = text::EncodeChat(*tokenizer_, *family, chats[i]);
    ASSERT_TRUE(ids.ok()) << ids.status().ToString();
    EXPECT_EQ(*ids, recorded[recorded.size() - 2 + i].ids);
  }
}

}  // namespace
}  // namespace aicf
