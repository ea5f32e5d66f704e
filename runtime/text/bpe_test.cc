#include <random>

#include "runtime/text/testing.h"

namespace aicf::text {
namespace {

using schema::TokenizerData;
using schema::TokenizerKind;
using schema::TokenType;

TEST(ByteBpe, MergesTheLowestRankFirst) {
  // "abc": b+c has the lower rank, so a+b never happens, although it is further left.
  const Tokenizer t = MustCreate(ByteLevel({{"b", "c"}, {"a", "b"}, {"a", "bc"}, {" ", "a"}}));
  EXPECT_EQ(MustEncode(t, "abc"), (Ids{258}));
  EXPECT_EQ(MustEncode(t, "ab"), (Ids{257}));
  // " abc": b c -> 256, then a bc (rank 2) before " " a (rank 3).
  EXPECT_EQ(MustEncode(t, " abc"), (Ids{' ', 258}));
  EXPECT_EQ(MustEncode(t, " a"), (Ids{259}));
  EXPECT_EQ(MustEncode(t, ""), (Ids{}));
}

TEST(ByteBpe, EqualRanksGoFromTheLeft) {
  const Tokenizer t = MustCreate(ByteLevel({{"a", "a"}}));
  EXPECT_EQ(MustEncode(t, "aaaaa"), (Ids{256, 256, 'a'}));
}

TEST(ByteBpe, PatternsKeepMergesApart) {
  // "a b" has a word boundary in front of " b"; without a pattern "a " would merge.
  TokenizerData data = ByteLevel({{"a", " "}, {" ", "b"}});
  EXPECT_EQ(MustEncode(MustCreate(data), "a b"), (Ids{'a', 257}));
  data.patterns.clear();
  EXPECT_EQ(MustEncode(MustCreate(data), "a b"), (Ids{256, 'b'}));
}

TEST(ByteBpe, WholeWordsBeforeMerges) {
  TokenizerData data = ByteLevel({{"a", "b"}});
  data.tokens.push_back("xyz");
  EXPECT_EQ(MustEncode(MustCreate(data), "xyz"), (Ids{'x', 'y', 'z'}));
  data.ignore_merges = true;
  EXPECT_EQ(MustEncode(MustCreate(data), "xyz"), (Ids{257}));
}

TEST(ByteBpe, AnyBytesComeBack) {
  const Tokenizer t = MustCreate(ByteLevel(
      {{"\xc3", "\xa9"}, {"a", "b"}, {" ", "ab"}, {"\xff", "\xfe"}, {"\n", "\n"}, {"1", "2"}}));
  std::mt19937 random(7);
  const std::string favourites = "ab \n12\xc3\xa9\xff\xfe\xe2\x82\xac'";
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (size_t length = random() % 60; text.size() < length;) {
      text += random() % 2 ? favourites[random() % favourites.size()] : static_cast<char>(random());
    }
    const Ids ids = MustEncode(t, text);
    ASSERT_EQ(*t.DecodeBytes(ids), text) << round;
  }
}

TEST(ByteBpe, LongLinesTakeNoQuadraticTime) {
  std::vector<std::pair<std::string, std::string>> merges;
  for (std::string a = "a"; a.size() < 64; a += a) merges.push_back({a, a});
  const Tokenizer t = MustCreate(ByteLevel(merges));
  const std::string line(1 << 20, 'a');
  EXPECT_EQ(MustEncode(t, line), Ids(line.size() / 64, 256 + 5));
  EXPECT_EQ(MustEncode(t, std::string(1 << 20, ' ') + "x").size(), size_t{(1 << 20) + 1});
  EXPECT_EQ(MustEncode(t, std::string(1 << 20, '\xe2')).size(), size_t{1 << 20});
}

TEST(ByteBpe, BytesWithoutATokenAreUnknownOrLeftOut) {
  TokenizerData data;
  data.tokens = {"a", "?"};
  EXPECT_EQ(MustEncode(MustCreate(data), "aba"), (Ids{0, 0}));
  data.unknown = 1;
  EXPECT_EQ(MustEncode(MustCreate(data), "abba"), (Ids{0, 1, 1, 0}));
  data.fuse_unknown = true;
  EXPECT_EQ(MustEncode(MustCreate(data), "abba"), (Ids{0, 1, 0}));
}

constexpr const char* kSpaced = "\xe2\x96\x81";

TokenizerData Llama() {
  const std::string s = kSpaced;
  TokenizerData data = Scored(
      TokenizerKind::kSentencePieceBpe,
      {{s, -9}, {"a", -9}, {"b", -9}, {"ab", -1}, {s + "a", -2}, {s + "ab", -3}, {"ba", -1}});
  for (int byte = 0; byte < 256; ++byte) {
    char spelled[8];
    std::snprintf(spelled, sizeof(spelled), "<0x%02X>", byte);
    data.tokens.push_back(spelled);
    data.types.push_back(TokenType::kByte);
    data.scores.push_back(0);
  }
  data.space_prefix = schema::SpacePrefix::kAlways;
  data.add_bos = true;
  return data;
}

TEST(SentencePieceBpe, MergesTheHighestScoreFirst) {
  const Tokenizer t = MustCreate(Llama());
  EXPECT_EQ(MustEncode(t, "ab"), (Ids{1, 8}));         // _ ab -> _ab
  EXPECT_EQ(MustEncode(t, "aba"), (Ids{1, 8, 4}));     // "ab" and "ba" score alike: the left one
  EXPECT_EQ(MustEncode(t, "a b"), (Ids{1, 7, 3, 5}));  // _a _ b
  EXPECT_EQ(MustDecode(t, {1, 7, 3, 5}), "a b");
  EXPECT_EQ(MustDecode(t, {3, 3, 5}), " b");  // one space is the prefix
}

TEST(SentencePieceBpe, UnknownCharactersAreBytes) {
  const Tokenizer t = MustCreate(Llama());
  EXPECT_EQ(MustEncode(t, "\xc3\xa9"), (Ids{1, 3, 10 + 0xc3, 10 + 0xa9}));
  EXPECT_EQ(MustDecode(t, {3, 10 + 0xc3, 10 + 0xa9}), "\xc3\xa9");
  EXPECT_EQ(MustDecode(t, {3, 10 + 0xc3, 4}),
            "\xef\xbf\xbd"
            "a");
  EXPECT_EQ(MustDecode(t, MustEncode(t, "x\xff y")), "x\xef\xbf\xbd y");
}

TEST(SentencePieceBpe, MergesByRankDoTheSame) {
  TokenizerData data = Llama();
  data.scores.clear();
  data.merges = {{4, 5}, {5, 4}, {3, 4}, {3, 6}};
  const Tokenizer t = MustCreate(data);
  EXPECT_EQ(MustEncode(t, "ab"), (Ids{1, 8}));
  EXPECT_EQ(MustEncode(t, "a b"), (Ids{1, 7, 3, 5}));
}

TEST(SentencePieceBpe, LongLinesTakeNoQuadraticTime) {
  const Tokenizer t = MustCreate(Llama());
  EXPECT_EQ(MustEncode(t, std::string(1 << 20, 'a')).size(), size_t{1 << 20} + 1);
}

}  // namespace
}  // namespace aicf::text
