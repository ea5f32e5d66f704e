// A tokenizer.json through the importer and the runtime, with ids worked out by hand; then files
// that are wrong.
#include "compiler/import/tokenizer/tokenizer_json.h"

#include <gtest/gtest.h>

#include "runtime/text/tokenizer.h"

namespace aicf {
namespace {

using Ids = std::vector<uint32_t>;

constexpr const char* kByteLevel = R"json({
  "normalizer": {"type": "NFC"},
  "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
    {"type": "Digits", "individual_digits": true},
    {"type": "ByteLevel", "add_prefix_space": false, "use_regex": true}]},
  "post_processor": {"type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "<s>"}}, {"Sequence": {"id": "A"}}]},
  "added_tokens": [{"id": 6, "content": "<s>", "special": true}],
  "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "Ġ": 2, "ab": 3, "Ġab": 4, "1": 5},
            "merges": ["a b", ["Ġ", "ab"]]}})json";

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(TokenizerJson, ByteLevelByHand) {
  auto data = ReadTokenizerJson(kByteLevel);
  ASSERT_TRUE(data.ok()) << data.status().ToString();
  const auto t = text::Tokenizer::Create(*data);
  ASSERT_TRUE(t.ok()) << t.status().ToString();
  EXPECT_EQ(*t->Encode("ab ab11"), (Ids{6, 3, 4, 5, 5}));
  EXPECT_EQ(*t->Encode("a<s>b", {.allow_special = true, .add_special = false}), (Ids{0, 6, 1}));
  EXPECT_EQ(*t->Decode(Ids{6, 3, 4, 5}), "ab ab1");
}

// What BERT's and RoBERTa's first files have in place of a template.
TEST(TokenizerJson, ClassAndSeparator) {
  constexpr const char* kTemplate = R"({"type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "<s>"}}, {"Sequence": {"id": "A"}}]})";
  for (const char* type : {"BertProcessing", "RobertaProcessing"}) {
    const auto with = [&](const std::string& pairs) {
      return ReadTokenizerJson(
          Replaced(kByteLevel, kTemplate, StrCat("{\"type\": \"", type, "\", ", pairs, "}")));
    };
    const auto data = with(R"("sep": ["b", 1], "cls": ["<s>", 6])");
    ASSERT_TRUE(data.ok()) << data.status().ToString();
    EXPECT_EQ(*text::Tokenizer::Create(*data)->Encode("ab"), (Ids{6, 3, 1}));
    for (const char* pairs : {R"("sep": ["b", 7], "cls": ["<s>", 6])", R"("sep": ["b", 1])",
                              R"("sep": ["b", 1], "cls": ["<s>", -1])", R"("sep": 1, "cls": 6)"}) {
      EXPECT_EQ(with(pairs).status().code(), Code::kBadModel) << pairs;
    }
  }
}

TEST(TokenizerJson, WrongFilesAreRefused) {
  const auto code = [](const std::string& json) { return ReadTokenizerJson(json).status().code(); };
  const auto changed = [&](const char* from, const char* to) {
    return code(Replaced(kByteLevel, from, to));
  };
  EXPECT_EQ(code(""), Code::kBadModel);
  EXPECT_EQ(code("[]"), Code::kBadModel);
  EXPECT_EQ(code("\xff"), Code::kBadModel);
  EXPECT_EQ(code(std::string(1 << 20, '[')), Code::kBadModel);
  EXPECT_EQ(code("{}"), Code::kUnsupported);
  EXPECT_EQ(changed("a b", "a c"), Code::kBadModel);
  EXPECT_EQ(changed("a b", "ab"), Code::kBadModel);
  EXPECT_EQ(changed("\"b\": 1", "\"b\": 0"), Code::kBadModel);
  EXPECT_EQ(changed("\"b\": 1", "\"b\": -1"), Code::kBadModel);
  EXPECT_EQ(changed("\"b\": 1", "\"b\": 4294967296"), Code::kBadModel);
  EXPECT_EQ(changed("\"id\": 6", "\"id\": 8"), Code::kBadModel);
  EXPECT_EQ(changed("NFC", "Precompiled"), Code::kUnsupported);
  // Parsers disagree about a key that is there twice, however deep it lies.
  EXPECT_EQ(changed("\"b\": 1", "\"a\": 1"), Code::kBadModel);
  EXPECT_EQ(changed("\"normalizer\"", "\"model\": {}, \"normalizer\""), Code::kBadModel);
  EXPECT_EQ(changed("\"type\": \"NFC\"", "\"type\": \"NFC\", \"type\": \"NFD\""), Code::kBadModel);
  EXPECT_EQ(changed("\"b\": 1", "\"b\": 1e400"), Code::kBadModel);
  EXPECT_EQ(changed("\"b\": 1", "\"b\": 1.0"), Code::kBadModel);
  EXPECT_EQ(changed("\"b\": 1", "\"b\": \"1\""), Code::kBadModel);
  EXPECT_EQ(changed("\"b\": 1", "\"b\": 1,"), Code::kBadModel);
  EXPECT_EQ(code(std::string(kByteLevel) + "x"), Code::kBadModel);
  EXPECT_EQ(changed("Digits", "Words"), Code::kUnsupported);
  EXPECT_EQ(changed("TemplateProcessing", "Other"), Code::kUnsupported);
  EXPECT_EQ(changed("\"type\": \"BPE\"", "\"type\": \"Other\""), Code::kUnsupported);
}

}  // namespace
}  // namespace aicf
