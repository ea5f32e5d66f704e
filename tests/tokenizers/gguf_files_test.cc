// Tokenizers of real models from llama.cpp's source: GGUF files without tensors, each with texts
// and the ids that the model's own tokenizer gives for them. AICF_TEST_VOCABULARIES names the
// folder (models/ of that source); without it the test is skipped.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "compiler/import/tokenizer/gguf_tokenizer.h"
#include "runtime/text/tokenizer.h"

namespace aicf {
namespace {

std::string FileText(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<std::string> SplitTexts(const std::string& file) {
  constexpr std::string_view kBetween = "\n__ggml_vocab_test__\n";
  std::vector<std::string> texts;
  size_t begin = 0;
  for (size_t at; (at = file.find(kBetween, begin)) != file.npos; begin = at + kBetween.size()) {
    texts.push_back(file.substr(begin, at - begin));
  }
  return texts;
}

void ExpectIds(const std::filesystem::path& gguf) {
  const auto file = gguf::ReadGguf(gguf.string());
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  const auto read = ReadGgufTokenizer(*file);
  ASSERT_TRUE(read.ok() && *read) << read.status().ToString();
  const auto tokenizer = text::Tokenizer::Create((*read)->data);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().ToString();
  EXPECT_FALSE((*read)->end_tokens.empty());
  std::istringstream lines(FileText(gguf.string() + ".out"));
  for (const std::string& text : SplitTexts(FileText(gguf.string() + ".inp"))) {
    std::string line;
    ASSERT_TRUE(std::getline(lines, line));
    std::istringstream numbers(line);
    const std::vector<uint32_t> expected{std::istream_iterator<uint32_t>(numbers), {}};
    EXPECT_EQ(*tokenizer->Encode(text, {.add_special = false}), expected) << text;
  }
}

TEST(GgufFiles, GiveTheIdsOfTheirModels) {
  const char* folder = std::getenv("AICF_TEST_VOCABULARIES");
  if (folder == nullptr) GTEST_SKIP() << "AICF_TEST_VOCABULARIES names no folder";
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (!std::filesystem::exists(entry.path().string() + ".out")) continue;
    SCOPED_TRACE(entry.path().filename());
    ExpectIds(entry.path());
    ++files;
  }
  EXPECT_GT(files, 0);
}

}  // namespace
}  // namespace aicf
