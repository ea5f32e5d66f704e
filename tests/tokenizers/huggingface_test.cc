// Tokenizers that Hugging Face's library has trained, compared with that library's ids and texts.
// huggingface.sh, which CTest runs as tokenizers_huggingface, provides them; without it the test is
// skipped.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "compiler/import/tokenizer/tokenizer_json.h"
#include "runtime/text/detokenizer.h"
#include "runtime/text/tokenizer.h"

namespace aicf {
namespace {

using Ids = std::vector<uint32_t>;
using Json = nlohmann::json;

void ExpectCase(const text::Tokenizer& tokenizer, const Json& c) {
  const bool special = c["special"];
  const auto text = c["text"].get<std::string>();
  const auto ids = tokenizer.Encode(text, {.allow_special = special, .add_special = special});
  ASSERT_TRUE(ids.ok()) << ids.status().ToString();
  EXPECT_EQ(*ids, c["ids"].get<Ids>()) << Json(text);
  const auto expected = c["ids"].get<Ids>();
  const text::DecodeOptions options{.skip_special = special};
  EXPECT_EQ(*tokenizer.Decode(expected, options), c["decoded"].get<std::string>()) << Json(text);
  // The same token by token.
  text::Detokenizer detokenizer(tokenizer, options);
  std::string streamed;
  for (const uint32_t id : expected) streamed += *detokenizer.Push(id);
  EXPECT_EQ(streamed + detokenizer.Finish(), *tokenizer.Decode(expected, options));
}

// The library takes no bytes that are not UTF-8. A byte-level vocabulary gives them back.
void ExpectBytesBack(const text::Tokenizer& tokenizer) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    std::string bytes;
    for (uint32_t n = random() % 40; n > 0; --n) {
      // ASCII, the beginnings of characters, and what may follow them.
      constexpr std::string_view kParts = "a \n1'\xc3\xe2\x82\xac\xf0\x9f\x98\x80\xff\xc0\xed\xa0";
      bytes += kParts[random() % kParts.size()];
    }
    const auto ids = tokenizer.Encode(bytes, {.add_special = false});
    ASSERT_TRUE(ids.ok()) << ids.status().ToString();
    EXPECT_EQ(*tokenizer.DecodeBytes(*ids), bytes);
  }
}

int ExpectCases(const std::filesystem::path& path) {
  std::stringstream file;
  file << std::ifstream(path).rdbuf();
  const auto data = ReadTokenizerJson(file.str());
  EXPECT_TRUE(data.ok()) << data.status().ToString();
  if (!data.ok()) return 0;
  const auto tokenizer = text::Tokenizer::Create(*data);
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status().ToString();
  if (!tokenizer.ok()) return 0;
  std::ifstream lines(std::filesystem::path(path).replace_extension("cases"));
  int cases = 0;
  for (std::string line; std::getline(lines, line); ++cases) {
    ExpectCase(*tokenizer, Json::parse(line));
    if (::testing::Test::HasFailure()) break;  // one is enough to look at
  }
  const std::string name = path.stem().string();
  if (name == "gpt2" || name == "llama3" || name == "digits") ExpectBytesBack(*tokenizer);
  return cases;
}

TEST(HuggingFace, GivesTheSameIdsAndTexts) {
  const char* folder = std::getenv("AICF_TOKENIZER_CASES");
  if (folder == nullptr) GTEST_SKIP() << "run by tests/tokenizers/huggingface.sh";
  int cases = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    SCOPED_TRACE(entry.path().filename());
    cases += ExpectCases(entry.path());
  }
  EXPECT_GT(cases, 1000);
}

}  // namespace
}  // namespace aicf
