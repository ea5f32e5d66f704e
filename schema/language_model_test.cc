// The language section: round trips, faults, and whatever a file may be.
#include "schema/language_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <random>
#include <tuple>

#include "schema/testing.h"

namespace aicf::schema {
namespace {

// Every field is something else than its default.
LanguageModel FullLanguageModel() {
  TokenizerData t;
  t.kind = TokenizerKind::kUnigram;
  t.tokens = {"<unk>", std::string("\0\xff", 2), "", "ab", "<0x41>"};
  t.types = {TokenType::kUnknown, TokenType::kNormal, TokenType::kUnused, TokenType::kControl,
             TokenType::kByte};
  t.scores = {0, -1.5f, 2, -0.0f, 1e-30f};
  t.merges = {{1, 3}, {3, 1}};
  t.added = {{3, true, false, true, false}, {1, false, true, false, true}};
  t.normalizers = {NormalizerStep::kNfkd, NormalizerStep::kNfc};
  t.patterns = {{"\\p{L}+", SplitKeep::kGaps}, {"\xff"}};
  t.space_prefix = SpacePrefix::kFirst;
  t.prefix_unless_space = t.ignore_merges = t.fuse_unknown = true;
  t.unknown = 0, t.bos = 1, t.eos = 2, t.pad = 3;
  t.add_bos = t.add_eos = true;
  t.continuation = "\xfe";
  t.longest_word = 7;
  t.clean_up_spaces = true;
  LanguageModel m{LanguageTask::kGenerate, "llama", 9, 40, 50, 16, 30, 4, {0, 8}, "chatml", t};
  return m;
}

void ExpectEqual(const TokenizerData& a, const TokenizerData& b) {
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.tokens, b.tokens);
  EXPECT_EQ(a.types, b.types);
  EXPECT_EQ(a.scores, b.scores);
  ASSERT_EQ(a.merges.size(), b.merges.size());
  for (size_t i = 0; i < a.merges.size(); ++i) {
    EXPECT_EQ(a.merges[i].left, b.merges[i].left);
    EXPECT_EQ(a.merges[i].right, b.merges[i].right);
  }
  ASSERT_EQ(a.added.size(), b.added.size());
  for (size_t i = 0; i < a.added.size(); ++i) {
    EXPECT_EQ(a.added[i].id, b.added[i].id);
    EXPECT_EQ(a.added[i].special, b.added[i].special);
    EXPECT_EQ(a.added[i].strip_left, b.added[i].strip_left);
    EXPECT_EQ(a.added[i].strip_right, b.added[i].strip_right);
    EXPECT_EQ(a.added[i].single_word, b.added[i].single_word);
  }
  EXPECT_EQ(a.normalizers, b.normalizers);
  ASSERT_EQ(a.patterns.size(), b.patterns.size());
  for (size_t i = 0; i < a.patterns.size(); ++i) {
    EXPECT_EQ(a.patterns[i].expression, b.patterns[i].expression);
    EXPECT_EQ(a.patterns[i].keep, b.patterns[i].keep);
  }
  EXPECT_EQ(a.space_prefix, b.space_prefix);
  EXPECT_EQ(std::tuple(a.prefix_unless_space, a.ignore_merges, a.fuse_unknown, a.clean_up_spaces),
            std::tuple(b.prefix_unless_space, b.ignore_merges, b.fuse_unknown, b.clean_up_spaces));
  EXPECT_EQ(std::tuple(a.unknown, a.bos, a.eos, a.pad, a.add_bos, a.add_eos),
            std::tuple(b.unknown, b.bos, b.eos, b.pad, b.add_bos, b.add_eos));
  EXPECT_EQ(a.continuation, b.continuation);
  EXPECT_EQ(a.longest_word, b.longest_word);
}

void ExpectEqual(const LanguageModel& a, const LanguageModel& b) {
  EXPECT_EQ(a.task, b.task);
  EXPECT_EQ(std::tuple(a.architecture, a.vocabulary, a.context, a.trained_context, a.page, a.pages,
                       a.slots, a.end_tokens, a.chat_template),
            std::tuple(b.architecture, b.vocabulary, b.context, b.trained_context, b.page, b.pages,
                       b.slots, b.end_tokens, b.chat_template));
  ASSERT_EQ(a.tokenizer.has_value(), b.tokenizer.has_value());
  if (a.tokenizer) ExpectEqual(*a.tokenizer, *b.tokenizer);
}

void ExpectRoundTrip(const LanguageModel& model) {
  const auto bytes = SerializeLanguageModel(model);
  EXPECT_EQ(bytes, SerializeLanguageModel(model));
  const auto parsed = ParseLanguageModel(bytes);
  ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
  ExpectEqual(*parsed, model);
  EXPECT_EQ(SerializeLanguageModel(*parsed), bytes);
}

TEST(LanguageModel, RoundTrips) {
  ExpectRoundTrip(FullLanguageModel());
  LanguageModel model = FullLanguageModel();
  model.tokenizer->kind = TokenizerKind::kByteBpe;
  model.tokenizer->types.clear();
  model.tokenizer->unknown = model.tokenizer->pad = std::nullopt;
  ExpectRoundTrip(model);
  model.tokenizer.reset();
  ExpectRoundTrip(model);
  ExpectRoundTrip({LanguageTask::kEmbed, "", 1, 1, 0, 0, 0, 0, {}, "", std::nullopt});
}

TEST(LanguageModel, AcceptsAnyAlignment) {
  const auto bytes = SerializeLanguageModel(FullLanguageModel());
  for (size_t shift = 0; shift < 9; ++shift) {
    std::vector<std::byte> moved(shift);
    moved.insert(moved.end(), bytes.begin(), bytes.end());
    EXPECT_TRUE(ParseLanguageModel(std::span(moved).subspan(shift)).ok()) << shift;
  }
}

TEST(LanguageModel, FaultsAreNamed) {
  constexpr int64_t kTooMuch = int64_t{1} << 31;
  const struct {
    std::string_view sentence;
    std::function<void(LanguageModel&)> fault;
  } kFaults[] = {
      {"unknown task 2", [](auto& m) { m.task = LanguageTask::kCount; }},
      {"architecture", [](auto& m) { m.architecture = "\xff"; }},
      {"architecture", [](auto& m) { m.architecture.assign(257, 'a'); }},
      {"chat_template", [](auto& m) { m.chat_template = std::string(1, '\0'); }},
      {"vocabulary is 0", [](auto& m) { m.vocabulary = 0; }},
      {"vocabulary is", [](auto& m) { m.vocabulary = kTooMuch; }},
      {"context is -1", [](auto& m) { m.context = -1; }},
      {"trained_context is -1", [](auto& m) { m.trained_context = -1; }},
      {"page is 0", [](auto& m) { m.page = 0; }},
      {"pages is", [](auto& m) { m.pages = kTooMuch; }},
      {"slots is 0", [](auto& m) { m.slots = 0; }},
      {"page is 16, allowed 0 to 0", [](auto& m) { m.task = LanguageTask::kEmbed; }},
      {"end_tokens[1] is 9", [](auto& m) { m.end_tokens[1] = 9; }},
      {"end_tokens[1] is 0", [](auto& m) { m.end_tokens[1] = 0; }},
      {"kind of tokenizer 4", [](auto& m) { m.tokenizer->kind = TokenizerKind::kCount; }},
      {"no tokens", [](auto& m) { m.tokenizer->tokens.clear(); }},
      {"1025 bytes", [](auto& m) { m.tokenizer->tokens[1].assign(1025, 'a'); }},
      {"unknown type of a token 7", [](auto& m) { m.tokenizer->types[0] = TokenType::kCount; }},
      {"is of type 0", [](auto& m) { m.tokenizer->types[0] = TokenType{}; }},
      {"4 types of 5", [](auto& m) { m.tokenizer->types.pop_back(); }},
      {"4 scores of 5", [](auto& m) { m.tokenizer->scores.pop_back(); }},
      {"the score",
       [](auto& m) { m.tokenizer->scores[1] = std::numeric_limits<float>::infinity(); }},
      {"spelled <0xNN>", [](auto& m) { m.tokenizer->types[1] = TokenType::kByte; }},
      {"merge 1", [](auto& m) { m.tokenizer->merges[1].right = 5; }},
      {"added token", [](auto& m) { m.tokenizer->added[1].id = 5; }},
      {"there twice", [](auto& m) { m.tokenizer->added[1].id = 3; }},
      {"unknown normaliser 9",
       [](auto& m) { m.tokenizer->normalizers[0] = NormalizerStep::kCount; }},
      {"unknown split 3", [](auto& m) { m.tokenizer->patterns[0].keep = SplitKeep::kCount; }},
      {"17 patterns", [](auto& m) { m.tokenizer->patterns.resize(17); }},
      {"unknown space prefix 3", [](auto& m) { m.tokenizer->space_prefix = SpacePrefix::kCount; }},
      {"unknown is token 5", [](auto& m) { m.tokenizer->unknown = 5; }},
      {"bos is token 5", [](auto& m) { m.tokenizer->bos = 5; }},
      {"eos is to be added", [](auto& m) { m.tokenizer->eos.reset(); }},
      {"pad is token 5", [](auto& m) { m.tokenizer->pad = 5; }},
      {"words of 1025", [](auto& m) { m.tokenizer->longest_word = 1025; }},
      {"continuations", [](auto& m) { m.tokenizer->continuation.assign(1025, '#'); }},
  };
  for (const auto& [sentence, fault] : kFaults) {
    LanguageModel model = FullLanguageModel();
    fault(model);
    EXPECT_FALSE(CheckLanguageModel(model).ok()) << sentence;
    const Status status = ParseLanguageModel(SerializeLanguageModel(model)).status();
    EXPECT_EQ(status.code(), Code::kBadArtifact) << sentence;
    EXPECT_NE(status.message().find(sentence), std::string::npos) << status.ToString();
  }
}

TEST(LanguageModel, TruncationAtEveryByteIsRefused) {
  const auto bytes = SerializeLanguageModel(FullLanguageModel());
  for (size_t n = 0; n < bytes.size(); ++n) {
    // A copy of its own size, so that a sanitizer sees every byte that is read behind it.
    const std::vector<std::byte> cut(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(n));
    EXPECT_EQ(ParseLanguageModel(cut).status().code(), Code::kBadArtifact) << n;
  }
}

// What is still accepted is a model that can be written, and is what it was read from.
void ExpectRefusedOrSound(const std::vector<std::byte>& bytes) {
  const auto parsed = ParseLanguageModel(bytes);
  if (!parsed.ok()) {
    ASSERT_EQ(parsed.status().code(), Code::kBadArtifact) << parsed.status().ToString();
    return;
  }
  const auto again = ParseLanguageModel(SerializeLanguageModel(*parsed));
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  ASSERT_EQ(SerializeLanguageModel(*again), SerializeLanguageModel(*parsed));
}

TEST(LanguageModel, FlippedBitsAndRandomBytesAreRefusedOrSound) {
  const auto bytes = SerializeLanguageModel(FullLanguageModel());
  auto damaged = bytes;
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    damaged[bit / 8] ^= std::byte{1} << (bit % 8);
    ExpectRefusedOrSound(damaged);
    damaged[bit / 8] = bytes[bit / 8];
  }
  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    damaged = bytes;
    for (uint32_t n = random() % 8 + 1; n > 0; --n) {
      // Small numbers are offsets and counts more often than random ones are.
      const uint32_t value = random() % 2 == 0 ? random() % 64 : random();
      damaged[random() % damaged.size()] = static_cast<std::byte>(value);
    }
    ExpectRefusedOrSound(damaged);
  }
}

TEST(LanguageModel, SharedVectorsAreRefused) {
  LanguageModel model = FullLanguageModel();
  model.tokenizer->patterns.assign(16, {std::string(4000, 'a')});
  auto bytes = SerializeLanguageModel(model);
  // Sixteen expressions, of which each now says that it has the bytes of all of them.
  const std::byte length[] = {std::byte{0xa0}, std::byte{0x0f}, std::byte{}, std::byte{}};
  int found = 0;
  for (auto at = bytes.begin();; ++found) {
    at = std::search(at, bytes.end(), std::begin(length), std::end(length));
    if (at == bytes.end()) break;
    *(at + 1) = std::byte{0x3f};
    ++at;
  }
  EXPECT_EQ(found, 16);
  const Status status = ParseLanguageModel(bytes).status();
  EXPECT_EQ(status.code(), Code::kBadArtifact) << status.ToString();
}

TEST(LanguageModel, ArtifactsCarryIt) {
  Contents contents = testing::ContentsOf(testing::ChainProgram());
  contents.language = SerializeLanguageModel(FullLanguageModel());
  const auto file = Serialize(contents);
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  for (const bool with_optional : {false, true}) {
    const auto artifact = Artifact::Parse(*file, with_optional);
    ASSERT_TRUE(artifact.ok()) << artifact.status().ToString();
    const auto bytes = (*artifact)->bytes(SectionKind::kLanguage);
    EXPECT_TRUE(std::ranges::equal(bytes, contents.language));
    EXPECT_EQ((*artifact)->header().minor, 1);
  }
}

TEST(LanguageModel, ArtifactsWithADamagedOneAreRefused) {
  Contents contents = testing::ContentsOf(testing::ChainProgram());
  contents.language = SerializeLanguageModel(FullLanguageModel());
  auto file = *Serialize(contents);
  contents.language[4] ^= std::byte{1};  // the file identifier
  EXPECT_EQ(Serialize(contents).status().code(), Code::kInternal);
  const auto header = (*Artifact::Parse(file, true))->header();
  ASSERT_EQ(header.sections.back().kind, SectionKind::kLanguage);
  file[header.sections.back().offset + 4] ^= std::byte{1};
  testing::Reseal(file);
  const Status status = Artifact::Parse(file, false).status();
  EXPECT_EQ(status.code(), Code::kBadArtifact);
  EXPECT_NE(status.message().find("language section"), std::string::npos) << status.ToString();
}

}  // namespace
}  // namespace aicf::schema
