// Vocabularies that are not merged, what happens to text before, and added tokens.
#include <random>

#include "runtime/text/detokenizer.h"
#include "runtime/text/normalize.h"
#include "runtime/text/testing.h"
#include "runtime/text/valid_utf8.h"

namespace aicf::text {
namespace {

using schema::NormalizerStep;
using schema::TokenizerData;
using schema::TokenizerKind;

TEST(Unigram, TakesTheBestSum) {
  // "abc": ab+c = -3, a+bc = -2.5, a+b+c = -6.
  TokenizerData data =
      Scored(TokenizerKind::kUnigram, {{"a", -2}, {"b", -2}, {"c", -2}, {"ab", -1}, {"bc", -0.5f}});
  const Tokenizer t = MustCreate(data);
  EXPECT_EQ(MustEncode(t, "abc"), (Ids{3, 7}));
  EXPECT_EQ(MustEncode(t, "ab"), (Ids{6}));
  EXPECT_EQ(MustEncode(t, "xya"), (Ids{0, 0, 3}));
  data.fuse_unknown = true;
  EXPECT_EQ(MustEncode(MustCreate(data), "xya"), (Ids{0, 3}));
}

TEST(Unigram, LongLinesTakeNoQuadraticTime) {
  const Tokenizer t =
      MustCreate(Scored(TokenizerKind::kUnigram, {{"a", -2}, {std::string(1000, 'a'), -3}}));
  EXPECT_EQ(MustEncode(t, std::string(100000, 'a')), Ids(100, 4));
}

TokenizerData Bert() {
  TokenizerData data;
  data.kind = TokenizerKind::kWordPiece;
  data.tokens = {"[UNK]", "[CLS]", "[SEP]", "un", "##aff", "##able", ",", "a", "##b", "cafe", "##"};
  data.added = {{0, true}, {1, true}, {2, true}};
  data.unknown = 0, data.bos = 1, data.eos = 2;
  data.add_bos = data.add_eos = true;
  data.normalizers = {NormalizerStep::kCleanText, NormalizerStep::kSpaceCjk,
                      NormalizerStep::kStripAccents, NormalizerStep::kLowercase};
  data.patterns = {
      {R"([\p{P}!-/:-@\[-`{-~]|[^\s\p{P}!-/:-@\[-`{-~]+)", schema::SplitKeep::kMatches}};
  data.clean_up_spaces = true;
  return data;
}

TEST(WordPiece, LongestPrefixThenContinuations) {
  const Tokenizer t = MustCreate(Bert());
  EXPECT_EQ(MustEncode(t, "Unaffable, a CAF\xc3\x89 unx"), (Ids{1, 3, 4, 5, 6, 7, 9, 0, 2}));
  EXPECT_EQ(MustEncode(t,
                       "a\xe4\xb8\xad"
                       "ab"),
            (Ids{1, 7, 0, 7, 8, 2}));
  EXPECT_EQ(MustDecode(t, {1, 3, 4, 5, 6, 7, 2}), "unaffable, a");
  EXPECT_EQ(MustEncode(t, std::string(101, 'a')), (Ids{1, 0, 2}));
}

TEST(Normalize, StepsByHand) {
  const auto one = [](NormalizerStep step, std::string_view text) {
    return Normalize(text, {step});
  };
  EXPECT_EQ(one(NormalizerStep::kNfc, "e\xcc\x81"), "\xc3\xa9");
  EXPECT_EQ(one(NormalizerStep::kNfd, "\xc3\xa9"), "e\xcc\x81");
  EXPECT_EQ(one(NormalizerStep::kNfkc, "\xef\xac\x81\xc2\xb2"), "fi2");
  EXPECT_EQ(one(NormalizerStep::kLowercase, "\xc3\x89\xc4\xb0"), "\xc3\xa9i\xcc\x87");
  EXPECT_EQ(one(NormalizerStep::kStripAccents, "\xc3\x89"), "E");
  EXPECT_EQ(one(NormalizerStep::kCleanText, "a\x01\t\xe2\x80\x8d\xc2\xa0z"), "a  z");
  EXPECT_EQ(one(NormalizerStep::kCollapseSpaces, "  a   b "), "a b");
  // Bytes that are not UTF-8 stay, and separate what is composed.
  EXPECT_EQ(one(NormalizerStep::kNfc,
                "e\xff\xcc\x81"
                "e\xcc\x81"),
            "e\xff\xcc\x81\xc3\xa9");
}

TEST(Normalize, LongRunsOfMarksTakeNoQuadraticTime) {
  std::string marks = "e", sorted = "e";
  for (int i = 0; i < 250000; ++i) marks += "\xcc\x81";
  for (int i = 0; i < 250000; ++i) marks += "\xcc\xa3", sorted += "\xcc\xa3";
  for (int i = 0; i < 250000; ++i) sorted += "\xcc\x81";
  EXPECT_TRUE(Normalize(marks, {NormalizerStep::kNfd}) == sorted);
}

TEST(AddedTokens, LongestFirstAndSpecialOnlyWhereAllowed) {
  TokenizerData data = ByteLevel({});
  data.tokens.insert(data.tokens.end(), {"<|a|>", "<|a|>b", "<u>", "word"});
  data.added = {
      {256, true}, {257, true}, {258, false, true, true}, {259, false, false, false, true}};
  const Tokenizer t = MustCreate(data);
  const EncodeOptions allow{.allow_special = true};
  EXPECT_EQ(MustEncode(t, "<|a|>b<|a|>c", allow), (Ids{257, 256, 'c'}));
  EXPECT_EQ(MustEncode(t, "<|a|>"), (Ids{'<', '|', 'a', '|', '>'}));
  EXPECT_EQ(MustEncode(t, "x <u>\n\ny"), (Ids{'x', 258, 'y'}));
  EXPECT_EQ(MustEncode(t, "word"), (Ids{259}));
  EXPECT_EQ(MustEncode(t, "words"), (Ids{'w', 'o', 'r', 'd', 's'}));
  EXPECT_EQ(MustDecode(t, {256, 'x', 258}), "x<u>");
  EXPECT_EQ(MustDecode(t, {256, 'x'}, {.skip_special = false}), "<|a|>x");
}

TEST(ValidUtf8, BrokenBeginningsAreOneReplacement) {
  const std::string r = "\xef\xbf\xbd";
  EXPECT_EQ(ToValidUtf8("a\xe2\x82"
                        "b"),
            "a" + r + "b");
  EXPECT_EQ(ToValidUtf8("\xed\xa0\x80"), r + r + r);          // a surrogate
  EXPECT_EQ(ToValidUtf8("\xf0\x9f\x98"), r);                  // unfinished
  EXPECT_EQ(ToValidUtf8("\xf4\x90\x80\x80"), r + r + r + r);  // above U+10FFFF
  EXPECT_EQ(ToValidUtf8("\xe2\xe2\x82\xac\xc0\xaf"), r + "\xe2\x82\xac" + r + r);
}

TEST(Detokenizer, PiecesAreValidAndTogetherTheWhole) {
  const Tokenizer t = MustCreate(ByteLevel({{"\x82", "\xac"}, {"\xe2", "\x82"}, {"a", "\xe2"}}));
  std::mt19937 random(3);
  const Ids favourites = {0xe2, 0x82, 0xac, 0xf0, 0x9f, 0x98, 0x80, 256, 257, 258, 'a'};
  for (int round = 0; round < 2000; ++round) {
    Ids ids;
    for (size_t n = random() % 20; ids.size() < n;) {
      ids.push_back(random() % 4 ? favourites[random() % favourites.size()] : random() % 259);
    }
    Detokenizer stream(t);
    std::string all;
    const auto add = [&](const std::string& piece) {
      ASSERT_EQ(ToValidUtf8(piece), piece);
      all += piece;
    };
    for (const uint32_t id : ids) add(*stream.Push(id));
    add(stream.Finish());
    ASSERT_EQ(all, MustDecode(t, ids));
  }
}

TEST(Detokenizer, HoldsBackACharactersBeginning) {
  const Tokenizer t = MustCreate(ByteLevel({}));
  Detokenizer stream(t);
  EXPECT_EQ(*stream.Push(0xe2), "");
  EXPECT_EQ(*stream.Push(0x82), "");
  EXPECT_EQ(*stream.Push(0xac), "\xe2\x82\xac");
  EXPECT_EQ(*stream.Push(0xe2), "");
  EXPECT_EQ(stream.Push(256).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(stream.Finish(), "\xef\xbf\xbd");
}

}  // namespace
}  // namespace aicf::text
