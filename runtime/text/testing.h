/// Small vocabularies for tests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "runtime/text/tokenizer.h"

namespace aicf::text {

using Ids = std::vector<uint32_t>;

inline constexpr const char* kGpt2 =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

inline Tokenizer MustCreate(schema::TokenizerData data) {
  auto made = Tokenizer::Create(std::move(data));
  EXPECT_TRUE(made.ok()) << made.status().ToString();
  return *std::move(made);
}

inline Ids MustEncode(const Tokenizer& tokenizer, std::string_view text,
                      EncodeOptions options = {}) {
  auto ids = tokenizer.Encode(text, options);
  EXPECT_TRUE(ids.ok()) << ids.status().ToString();
  return *std::move(ids);
}

inline std::string MustDecode(const Tokenizer& tokenizer, const Ids& ids,
                              DecodeOptions options = {}) {
  auto text = tokenizer.Decode(ids, options);
  EXPECT_TRUE(text.ok()) << text.status().ToString();
  return *std::move(text);
}

/// The 256 bytes, then a token for each merge of two spellings, in this order.
inline schema::TokenizerData ByteLevel(
    const std::vector<std::pair<std::string, std::string>>& merges) {
  schema::TokenizerData data;
  for (int byte = 0; byte < 256; ++byte) data.tokens.emplace_back(1, static_cast<char>(byte));
  const auto id = [&](const std::string& spelling) {
    uint32_t at = 0;
    while (data.tokens[at] != spelling) ++at;
    return at;
  };
  for (const auto& [left, right] : merges) {
    data.merges.push_back({id(left), id(right)});
    data.tokens.push_back(left + right);
  }
  data.patterns = {{kGpt2}};
  return data;
}

/// Tokens of SentencePiece's kind with a score each; <unk> is 0, control characters follow.
inline schema::TokenizerData Scored(schema::TokenizerKind kind,
                                    const std::vector<std::pair<std::string, float>>& tokens) {
  using schema::TokenType;
  schema::TokenizerData data;
  data.kind = kind;
  data.tokens = {"<unk>", "<s>", "</s>"};
  data.types = {TokenType::kUnknown, TokenType::kControl, TokenType::kControl};
  data.scores = {0, 0, 0};
  data.unknown = 0, data.bos = 1, data.eos = 2;
  for (const auto& [spelling, score] : tokens) {
    data.tokens.push_back(spelling);
    data.types.push_back(TokenType::kNormal);
    data.scores.push_back(score);
  }
  return data;
}

}  // namespace aicf::text
