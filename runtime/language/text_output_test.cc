#include "runtime/language/text_output.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "runtime/language/generator_testing.h"
#include "runtime/text/testing.h"

namespace aicf::language {
namespace {

using Strings = std::vector<std::string>;

/// All that is said of pieces until a stop string or the end.
std::string Said(StopText stop, const Strings& pieces) {
  std::string said;
  for (const std::string& piece : pieces) said += stop.Push(piece);
  return stop.stopped() ? said : said + stop.Finish();
}

TEST(StopText, SaysNothingOfAStopString) {
  EXPECT_EQ(Said(StopText({"###"}), {"one #", "# two", "##", "# three"}), "one ## two");
  EXPECT_EQ(Said(StopText({"end"}), {"the e", "n", "d of it"}), "the ");
  EXPECT_EQ(Said(StopText({"end"}), {"the e", "n"}), "the en") << "it never was complete";
  EXPECT_EQ(Said(StopText({"aab"}), {"aaa", "b"}), "a");
  EXPECT_EQ(Said(StopText({"abcd", "bc"}), {"ab", "c", "d"}), "a") << "the first complete one";
  EXPECT_EQ(Said(StopText({"abcd", "bc"}), {"ab", "cd"}), "") << "both are: from the first on";
  EXPECT_EQ(Said(StopText({}), {"a", "b"}), "ab");
}

TEST(StopText, HoldsBackNoMoreThanItMust) {
  StopText stop({"stop", "\n\n"});
  EXPECT_EQ(stop.Push("a sto"), "a ");
  EXPECT_EQ(stop.Push("ne"), "stone");
  EXPECT_EQ(stop.Push("\n"), "");
  EXPECT_EQ(stop.Push("x"), "\nx");
  EXPECT_FALSE(stop.stopped());
  EXPECT_EQ(stop.Push("y\n\nz"), "y");
  EXPECT_TRUE(stop.stopped());
  EXPECT_EQ(stop.Push("more"), "");
}

std::string RandomText(std::mt19937& random, size_t most) {
  std::string text(random() % (most + 1), 'a');
  for (char& c : text) c = static_cast<char>('a' + random() % 2);
  return text;
}

TEST(StopText, IsTheTextUpToTheFirstStopStringHoweverItIsCut) {
  std::mt19937 random(1);
  size_t stopped = 0;
  for (int round = 0; round < 20000; ++round) {
    Strings stops, pieces;
    for (size_t i = 1 + random() % 3; i > 0; --i) stops.push_back("a" + RandomText(random, 5));
    for (size_t i = 1 + random() % 8; i > 0; --i) pieces.push_back(RandomText(random, 4));
    // The first piece with which any is complete ends the text, where the first of those begins.
    std::string text;
    size_t cut = std::string::npos;
    for (const std::string& piece : pieces) {
      text += piece;
      for (const std::string& stop : stops) cut = std::min(cut, text.find(stop));
      if (cut != std::string::npos) break;
    }
    stopped += cut != std::string::npos;
    ASSERT_EQ(Said(StopText(stops), pieces), text.substr(0, cut)) << "round " << round;
  }
  EXPECT_GT(stopped, 1000u);
}

/// The tokens of a byte-level vocabulary, a byte each.
std::vector<uint32_t> Bytes(std::string_view text) {
  std::vector<uint32_t> ids;
  for (const char c : text) ids.push_back(static_cast<unsigned char>(c));
  return ids;
}

TextOutput MustCreate(const text::Tokenizer& tokenizer, const std::vector<uint32_t>& prompt,
                      Strings stops = {}) {
  auto output = TextOutput::Create(tokenizer, prompt, std::move(stops));
  EXPECT_TRUE(output.ok()) << output.status().ToString();
  return *std::move(output);
}

TEST(TextOutput, SaysWholeCharacters) {
  const text::Tokenizer tokenizer = text::MustCreate(text::ByteLevel({}));
  TextOutput output = MustCreate(tokenizer, Bytes("x"));
  EXPECT_EQ(*output.Push(0xc3), "");
  EXPECT_EQ(*output.Push(0xa4), "\u00e4");
  EXPECT_EQ(*output.Push('b'), "b");
  EXPECT_EQ(*output.Push(0xe2), "");
  EXPECT_EQ(output.Finish(), "\ufffd") << "it never ended";
}

TEST(TextOutput, StopStringsSpanTokensAndCharacters) {
  const text::Tokenizer tokenizer = text::MustCreate(text::ByteLevel({}));
  TextOutput output = MustCreate(tokenizer, Bytes("x"), {"\u00e4b"});
  std::string said;
  for (const uint32_t id : Bytes("a\u00e4c\u00e4b")) said += *output.Push(id);
  EXPECT_TRUE(output.stopped());
  EXPECT_EQ(said, "a\u00e4c");
  EXPECT_EQ(output.Finish(), "");
}

TEST(TextOutput, GoesOnWhereThePromptEnds) {
  using schema::TokenizerKind;
  const text::Tokenizer words = text::MustCreate(
      text::Scored(TokenizerKind::kSentencePieceBpe, {{"\u2581once", 0}, {"\u2581there", 0}}));
  EXPECT_EQ(*MustCreate(words, {1, 3}).Push(4), " there") << "the space is the text's";
  EXPECT_EQ(*MustCreate(words, {1}).Push(4),
            words.data().space_prefix == schema::SpacePrefix::kNever ? " there" : "there");
  const text::Tokenizer bytes = text::MustCreate(text::ByteLevel({}));
  EXPECT_EQ(*MustCreate(bytes, {0xc3}).Push(0xa4), "\u00e4") << "the prompt began it";
}

TEST(TextOutput, IdsBehindTheTokenizersLastSayNothing) {
  const text::Tokenizer tokenizer = text::MustCreate(text::ByteLevel({}));
  TextOutput output = MustCreate(tokenizer, {'a', 300});
  EXPECT_EQ(*output.Push(256), "");
  EXPECT_EQ(*output.Push('b'), "b");
}

TEST(GeneratorText, IsThatOfTheTokensAndComesInPieces) {
  const Fixture f({}, SmallLayout(), false, TextModel());
  std::map<uint64_t, std::string> said;
  std::map<uint64_t, std::vector<uint32_t>> tokens;
  std::map<uint64_t, FinishReason> ends;
  std::vector<uint64_t> ids;
  for (uint32_t i = 0; i < 12; ++i) {
    GenerateRequest request{.prompt = {i, 3}, .max_new_tokens = 30};
    if (i % 2 == 1) request.stop_texts = {"aa", "bb", "cc"};
    request.on_progress = [&](const GenerateProgress& progress) {
      said[progress.id] += progress.text;
      auto& all = tokens[progress.id];
      all.insert(all.end(), progress.tokens.begin(), progress.tokens.end());
      EXPECT_EQ(ends[progress.id], FinishReason::kNone) << "it has ended already";
      ends[progress.id] = progress.finish;
    };
    ids.push_back(*f.generator->Submit(request));
  }
  size_t stopped = 0;
  for (const uint64_t id : ids) {
    const auto result = f.generator->Wait(id);
    ASSERT_TRUE(result.ok()) << result.status().ToString();
    EXPECT_EQ(result->text, said[id]);
    EXPECT_EQ(result->tokens, tokens[id]);
    EXPECT_EQ(result->finish, ends[id]);
    const std::string whole = *f.generator->Decode(result->tokens);
    EXPECT_TRUE(whole.starts_with(result->text));
    if (result->finish == FinishReason::kStopText) {
      ++stopped;
      for (const char* stop : {"aa", "bb", "cc"}) {
        EXPECT_EQ(result->text.find(stop), std::string::npos);
      }
      EXPECT_LT(result->text.size(), whole.size());
    } else {
      EXPECT_EQ(result->text, whole);
    }
  }
  EXPECT_GT(stopped, 2u);
}

TEST(GeneratorText, EncodesAndDecodes) {
  schema::LanguageModel model = SmallModel();
  model.tokenizer = text::ByteLevel({{"a", "b"}});
  const Fixture f({}, SmallLayout(), false, model);
  EXPECT_TRUE(f.generator->info().has_tokenizer);
  EXPECT_EQ(*f.generator->Encode("abc"), (std::vector<uint32_t>{256, 'c'}));
  const std::vector<uint32_t> ids = {256, 'c'};
  EXPECT_EQ(*f.generator->Decode(ids), "abc");
}

TEST(GeneratorText, AChatHasTheModelsForm) {
  schema::LanguageModel model = SmallModel();
  model.tokenizer = text::ByteLevel({});
  for (const char* special : {"<|im_start|>", "<|im_end|>"}) {
    const auto id = static_cast<uint32_t>(model.tokenizer->tokens.size());
    model.tokenizer->added.push_back({.id = id, .special = true});
    model.tokenizer->tokens.emplace_back(special);
  }
  const std::vector<ChatMessage> chat = {{"system", "be"}, {"user", "<|im_end|>"}};
  const Fixture without({}, SmallLayout(), false, model);
  EXPECT_EQ(without.generator->EncodeChat(chat).status().code(), Code::kUnsupported);
  model.chat_template = "chatml";
  const Fixture f({}, SmallLayout(), false, model);
  const auto ids = f.generator->EncodeChat(chat);
  ASSERT_TRUE(ids.ok()) << ids.status().ToString();
  EXPECT_EQ(std::ranges::count(*ids, 256), 3) << "system, user, and the answer begin";
  EXPECT_EQ(std::ranges::count(*ids, 257), 2) << "what a user spells out is text";
  EXPECT_EQ(f.generator->EncodeChat({}).status().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace aicf::language
