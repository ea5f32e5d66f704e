// Data that is wrong, and expressions that would never end.
#include <cmath>
#include <functional>

#include "runtime/text/testing.h"

namespace aicf::text {
namespace {

using schema::TokenizerData;
using schema::TokenizerKind;
using schema::TokenType;

struct Fault {
  const char* said;
  std::function<void(TokenizerData&)> plant;
};

TEST(TokenizerFaults, EachIsRefusedAndNamed) {
  const Fault faults[] = {
      {"no tokens", [](auto& d) { d = {}; }},
      {"kind 9", [](auto& d) { d.kind = static_cast<TokenizerKind>(9); }},
      {"space prefix 9", [](auto& d) { d.space_prefix = static_cast<schema::SpacePrefix>(9); }},
      {"normaliser 99", [](auto& d) { d.normalizers = {static_cast<schema::NormalizerStep>(99)}; }},
      {"split 9",
       [](auto& d) {
         d.patterns = {{"a", static_cast<schema::SplitKeep>(9)}};
       }},
      {"types of", [](auto& d) { d.types = {TokenType::kNormal}; }},
      {"scores of", [](auto& d) { d.scores = {1}; }},
      {"is of type 0", [](auto& d) { d.types.assign(d.tokens.size(), static_cast<TokenType>(0)); }},
      {"is of type 7", [](auto& d) { d.types.assign(d.tokens.size(), static_cast<TokenType>(7)); }},
      {"not spelled <0xNN>", [](auto& d) { d.types.assign(d.tokens.size(), TokenType::kByte); }},
      {"has the score", [](auto& d) { d.scores.assign(d.tokens.size(), NAN); }},
      {"an added token is token 999", [](auto& d) { d.added = {{999}}; }},
      {"is there twice",
       [](auto& d) {
         d.added = {{65}, {65}};
       }},
      {"has no spelling", [](auto& d) { d.tokens.push_back(""), d.added = {{257}}; }},
      {"unknown is token", [](auto& d) { d.unknown = 257; }},
      {"bos is token", [](auto& d) { d.bos = 257; }},
      {"eos is token", [](auto& d) { d.eos = 257; }},
      {"pad is token", [](auto& d) { d.pad = UINT32_MAX; }},
      {"bos is to be added", [](auto& d) { d.add_bos = true; }},
      {"eos is to be added", [](auto& d) { d.add_eos = true; }},
      {"merge 0 is of tokens 257",
       [](auto& d) {
         d.merges = {{257, 1}};
       }},
      {"merge 0 is of tokens 1 and 257",
       [](auto& d) {
         d.merges = {{1, 257}};
       }},
      {"makes a spelling that no token has",
       [](auto& d) {
         d.merges = {{'x', 'y'}};
       }},
      // A cycle: a token would have to be its own part, which no spelling can be.
      {"makes a spelling that no token has",
       [](auto& d) {
         d.merges = {{256, 'b'}};
       }},
      {"are spelled alike", [](auto& d) { d.tokens.push_back("ab"); }},
      {"wrong at byte", [](auto& d) { d.patterns = {{"(a"}}; }},
      {"wrong at byte", [](auto& d) { d.patterns = {{"\xff"}}; }},
      {"neither merges nor scores",
       [](auto& d) { d.kind = TokenizerKind::kSentencePieceBpe, d.merges.clear(); }},
      {"without scores", [](auto& d) { d.kind = TokenizerKind::kUnigram; }},
      {"words of", [](auto& d) { d.longest_word = 1 << 30; }},
      {"the mark of continuations", [](auto& d) { d.continuation.assign(2000, '#'); }},
  };
  for (const Fault& fault : faults) {
    TokenizerData data = ByteLevel({{"a", "b"}});
    ASSERT_TRUE(Tokenizer::Create(data).ok());
    fault.plant(data);
    const auto made = Tokenizer::Create(data);
    ASSERT_FALSE(made.ok()) << fault.said;
    EXPECT_EQ(made.status().code(), Code::kBadModel) << fault.said;
    EXPECT_NE(made.status().message().find(fault.said), std::string::npos)
        << fault.said << ": " << made.status().message();
  }
}

TEST(TokenizerFaults, LimitsAreUnsupported) {
  const auto code = [](const std::function<void(TokenizerData&)>& plant) {
    TokenizerData data = ByteLevel({});
    plant(data);
    return Tokenizer::Create(data).status().code();
  };
  EXPECT_EQ(code([](auto& d) { d.tokens.emplace_back(schema::kMaxTokenBytes + 1, 'a'); }),
            Code::kUnsupported);
  EXPECT_EQ(code([](auto& d) { d.tokens.emplace_back(schema::kMaxTokenBytes, 'a'); }), Code::kOk);
  EXPECT_EQ(code([](auto& d) { d.patterns.assign(17, {"a"}); }), Code::kUnsupported);
  EXPECT_EQ(code([](auto& d) { d.patterns = {{std::string(5000, 'a')}}; }), Code::kUnsupported);
  EXPECT_EQ(code([](auto& d) { d.patterns = {{"(?=(a+))\\1b"}}; }), Code::kUnsupported);
  EXPECT_EQ(code([](auto& d) { d.patterns = {{"a{1000}"}}; }), Code::kUnsupported);
  EXPECT_EQ(code([](auto& d) { d.patterns = {{"a{1,1000}"}}; }), Code::kUnsupported);
  EXPECT_EQ(code([](auto& d) { d.patterns = {{"a{3,999}[\\x{1000}]{,5}"}}; }), Code::kOk);
}

TEST(TokenizerFaults, ExpressionsThatNeverEndAreStopped) {
  for (const char* expression : {"(a+)+b", "(a|aa)+b", "(?:a*)*b", "(?:(?=a+)a)*b", "(?:a*?a*?)*b",
                                 ".*.*.*b", "(a(?1)?)+b"}) {
    TokenizerData data = ByteLevel({});
    data.patterns = {{expression}};
    const auto ids = MustCreate(data).Encode(std::string((1 << 20) - 2, 'a') + "cb");
    // Either it is done, every byte accounted for, or refused; both soon.
    if (ids.ok()) {
      EXPECT_EQ(ids->size(), size_t{1 << 20}) << expression;
    } else {
      EXPECT_EQ(ids.status().code(), Code::kResource) << expression;
    }
  }
  TokenizerData data = ByteLevel({});
  data.patterns = {{"(a+)+b"}};
  // Without a b in the text the library would see at once that nothing matches.
  const std::string text = std::string(100, 'a') + "cb";
  EXPECT_EQ(MustCreate(data).Encode(text).status().code(), Code::kResource);
}

TEST(TokenizerFaults, ExpressionsThatMatchNothingLeaveTheText) {
  for (const char* expression : {"", "x*", "(?!)", "\\b"}) {
    TokenizerData data = ByteLevel({{"a", "b"}});
    data.patterns = {{expression}};
    EXPECT_EQ(MustEncode(MustCreate(data), "ab"), (Ids{256})) << expression;
  }
}

}  // namespace
}  // namespace aicf::text
