// A transformer whose prefill and decode share a cache that stays in the session. After every token
// it is compared with the whole sequence recomputed without a cache.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tests/states/decoder_model.h"
#include "tests/states/decoder_reference.h"
#include "tests/states/gpu_driver.h"

namespace aicf::states {
namespace {

constexpr int64_t kPrompt = 16, kDecoded = 20;
constexpr size_t kVocabulary = Decoder::kTokens;

int64_t TokenAt(int64_t position, int64_t seed = 0) {
  return (position * 7 + position * position * (2 + seed) + 3 + seed) % Decoder::kTokens;
}

std::vector<int64_t> Prompt() {
  std::vector<int64_t> tokens;
  for (int64_t i = 0; i < kPrompt; ++i) tokens.push_back(TokenAt(i));
  return tokens;
}

/// Largest difference over the largest expected magnitude.
double ErrorOf(std::span<const float> logits, std::span<const double> expected) {
  double worst = 0, top = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    worst = std::max(worst, std::fabs(logits[i] - expected[i]));
    top = std::max(top, std::fabs(expected[i]));
  }
  return worst / top;
}

/// What is run: the form of the cache, the target, and the device.
struct Case {
  CacheForm form;
  std::string target, device;
};

/// One sequence: its tokens so far and the session that holds their keys and values.
struct Sequence {
  std::unique_ptr<Session> session;
  std::vector<int64_t> tokens;
};

class DecoderTest : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    const Case& c = GetParam();
    CompileOptions options = DecoderOptions(c.target, c.form, kPrompt);
    options.images = c.device != "cpu";
    auto compiled = CompileModel(DecoderModel(decoder_, c.form), options);
    ASSERT_TRUE(compiled.ok()) << compiled.status().ToString();
    compiled_ = *std::move(compiled);
    auto program = LoadProgram(compiled_);
    ASSERT_TRUE(program.ok()) << program.status().ToString();
    program_ = *program;
  }

  Sequence Open() {
    auto session = OpenSession(program_, GetParam().device);
    EXPECT_TRUE(session.ok()) << session.status().ToString();
    return {session.ok() ? *std::move(session) : nullptr, {}};
  }

  /// The logits after each of the tokens, appended to the sequence at `first`.
  std::vector<float> Feed(Sequence& sequence, const std::string& entry,
                          const std::vector<int64_t>& tokens) {
    const auto first = static_cast<int64_t>(sequence.tokens.size());
    auto logits = Decode(*sequence.session, GetParam().form, entry, tokens, first);
    EXPECT_TRUE(logits.ok()) << logits.status().ToString();
    sequence.tokens.insert(sequence.tokens.end(), tokens.begin(), tokens.end());
    return logits.ok() ? *logits : std::vector<float>(tokens.size() * kVocabulary);
  }
  /// The same, compared with the reference token by token.
  void FeedAndCompare(Sequence& sequence, const std::string& entry,
                      const std::vector<int64_t>& tokens) {
    const std::vector<float> logits = Feed(sequence, entry, tokens);
    const size_t first = sequence.tokens.size() - tokens.size();
    for (size_t i = 0; i < tokens.size(); ++i) {
      const size_t length = first + i + 1;
      const std::vector<double> expected =
          LogitsAfter(decoder_, std::span(sequence.tokens).first(length));
      const auto row = std::span(logits).subspan(i * kVocabulary, kVocabulary);
      EXPECT_LE(ErrorOf(row, expected), LogitTolerance(length)) << "after token " << length;
    }
  }

  void CheckPrefillAndDecode();
  void CheckForks();
  void CheckExports();

  Decoder decoder_;
  CompileResult compiled_;
  std::shared_ptr<const Program> program_;
};

void DecoderTest::CheckPrefillAndDecode() {
  Sequence sequence = Open();
  ASSERT_NE(sequence.session, nullptr);
  FeedAndCompare(sequence, "prefill", Prompt());
  for (int64_t i = 0; i < kDecoded; ++i) FeedAndCompare(sequence, "decode", {TokenAt(kPrompt + i)});
  // The tolerance tells a cache that lacks one row from one that has it.
  const std::vector<double> whole = LogitsAfter(decoder_, sequence.tokens);
  std::vector<int64_t> without = sequence.tokens;
  without.erase(without.begin() + 5);
  const std::vector<double> lacking = LogitsAfter(decoder_, without);
  const std::vector<float> rounded(lacking.begin(), lacking.end());
  EXPECT_GT(ErrorOf(rounded, whole), 100 * LogitTolerance(sequence.tokens.size()));
  // A new sequence in the same session.
  ASSERT_TRUE(sequence.session->ResetStates().ok());
  sequence.tokens.clear();
  FeedAndCompare(sequence, "prefill", Prompt());
}

void DecoderTest::CheckForks() {
  Sequence one = Open();
  ASSERT_NE(one.session, nullptr);
  (void)Feed(one, "prefill", Prompt());
  auto forked = one.session->Fork();
  ASSERT_TRUE(forked.ok()) << forked.status().ToString();
  Sequence other{*std::move(forked), one.tokens};
  for (int64_t i = kPrompt; i < kPrompt + 6; ++i) {
    FeedAndCompare(one, "decode", {TokenAt(i)});
    FeedAndCompare(other, "decode", {TokenAt(i, 1)});
  }
  EXPECT_NE(one.tokens, other.tokens);
  EXPECT_NE(ExportStates(*one.session), ExportStates(*other.session));
}

void DecoderTest::CheckExports() {
  Sequence one = Open(), other = Open();
  ASSERT_TRUE(one.session != nullptr && other.session != nullptr);
  (void)Feed(one, "prefill", Prompt());
  for (int64_t i = kPrompt; i < kPrompt + 4; ++i) (void)Feed(one, "decode", {TokenAt(i)});
  ASSERT_TRUE(ImportStates(*other.session, ExportStates(*one.session)).ok());
  other.tokens = one.tokens;
  for (int64_t i = kPrompt + 4; i < kPrompt + 10; ++i) {
    EXPECT_EQ(Feed(one, "decode", {TokenAt(i)}), Feed(other, "decode", {TokenAt(i)}));
  }
  EXPECT_EQ(ExportStates(*one.session), ExportStates(*other.session));
}

TEST_P(DecoderTest, PrefillAndDecodeGiveWhatTheWholeSequenceDoes) { CheckPrefillAndDecode(); }
TEST_P(DecoderTest, ForksAfterThePrefillGoOnApart) { CheckForks(); }
TEST_P(DecoderTest, AnExportedCacheGoesOnBitForBit) { CheckExports(); }

/// The caches' buffers, and those in place of them.
bool IsCache(const schema::Program& program, uint32_t buffer) {
  return program.buffers[schema::RootOf(program, buffer)].role == schema::Role::kState;
}

TEST_P(DecoderTest, TheCacheIsSharedAndUpdatedInPlace) {
  const schema::Program& program = compiled_.contents.program;
  const uint64_t cache = Decoder::kGroups * Decoder::kCache * Decoder::kHead * sizeof(float);
  EXPECT_EQ(program.state_bytes, 2 * Decoder::kLayers * cache) << "one cache for both entry points";
  ASSERT_EQ(program.entry_points.size(), 2u);
  for (const schema::EntryPoint& entry : program.entry_points) {
    SCOPED_TRACE(entry.name);
    EXPECT_EQ(entry.inputs.size(), 1u);
    EXPECT_EQ(entry.outputs.size(), 1u);
    EXPECT_EQ(entry.metas.size(), 1u);
    int writers = 0;
    for (uint32_t s = entry.first_step; s < entry.first_step + entry.step_count; ++s) {
      const schema::Step& step = program.steps[s];
      for (uint32_t out : step.outputs) {
        if (!IsCache(program, out)) continue;
        ++writers;
        EXPECT_EQ(step.problem.family, abi::Family::kScatter) << "step " << s << " copies a cache";
      }
    }
    EXPECT_EQ(writers, 2 * Decoder::kLayers) << "one step per cache";
  }
}

TEST_P(DecoderTest, TheDecisionsSaySo) {
  int in_place = 0;
  for (const Decision& d : compiled_.decisions.decisions()) {
    if (d.pass != "update-states-in-place") continue;
    EXPECT_EQ(d.choice, "made in the state's place") << ToString(d.subject);
    ++in_place;
  }
  EXPECT_EQ(in_place, 2 * 2 * Decoder::kLayers) << "of every cache in every entry point";
}

/// A prompt shorter than the entry point is filled up by the caller: causal rows do not see what
/// comes after them, and the tokens that follow overwrite it.
TEST_P(DecoderTest, AShorterPromptIsFilledUp) {
  Sequence sequence = Open();
  ASSERT_NE(sequence.session, nullptr);
  constexpr size_t kShort = 11;
  (void)Feed(sequence, "prefill", Prompt());
  sequence.tokens.resize(kShort);
  for (int64_t i = kShort; i < 20; ++i) FeedAndCompare(sequence, "decode", {TokenAt(i, 1)});
}

class GpuDecoderTest : public DecoderTest {
 protected:
  void SetUp() override {
    const auto driver = GpuDriver();
    if (!driver.ok()) GTEST_SKIP() << driver.status().message();
    driver_ = *driver;
    DecoderTest::SetUp();
  }
  cuda::Driver* driver_ = nullptr;
};

TEST_P(GpuDecoderTest, PrefillAndDecodeGiveWhatTheWholeSequenceDoes) { CheckPrefillAndDecode(); }
TEST_P(GpuDecoderTest, ForksAfterThePrefillGoOnApart) { CheckForks(); }
TEST_P(GpuDecoderTest, AnExportedCacheGoesOnBitForBit) { CheckExports(); }

/// Uploads are the tokens and the positions, downloads the logits, all of them in the captured
/// graphs: one of each kind per entry point, made when the session is.
TEST_P(GpuDecoderTest, TheCacheNeverCrossesTheHost) {
  const cuda::Counters& counters = driver_->counters();
  const auto calls = [&] {
    return std::array{counters.calls(cuda::Fn::kMemcpyHtoDAsync),
                      counters.calls(cuda::Fn::kMemcpyDtoHAsync),
                      counters.calls(cuda::Fn::kMemcpyDtoDAsync)};
  };
  const Sequence first = Open();  // uploads the weights, which all sessions share
  const auto before = calls();
  Sequence sequence = Open();
  ASSERT_NE(sequence.session, nullptr);
  const auto made = calls();
  EXPECT_EQ(made[0] - before[0], 2u * 2) << "tokens and positions of two entry points";
  EXPECT_EQ(made[1] - before[1], 2u) << "logits of two entry points";
  EXPECT_EQ(made[2], before[2]);
  const uint64_t launches = counters.graph_launches();
  (void)Feed(sequence, "prefill", Prompt());
  for (int64_t i = 0; i < kDecoded; ++i) (void)Feed(sequence, "decode", {TokenAt(kPrompt + i)});
  EXPECT_EQ(calls(), made);
  EXPECT_EQ(counters.graph_launches() - launches, 1u + kDecoded);
}

std::vector<Case> Cases(bool gpu) {
  std::vector<Case> cases;
  for (CacheForm form : kCacheForms) {
    if (gpu) cases.push_back({form, "cuda:sm_90a", "cuda:0"});
    for (const char* target : kTargets) {
      if (!gpu) cases.push_back({form, target, "cpu"});
    }
  }
  return cases;
}
std::string CaseName(const ::testing::TestParamInfo<Case>& info) {
  const Case& c = info.param;
  const bool plan = c.target != "cpu" && c.device == "cpu";
  return NameOf(c.form) + (c.target == "cpu" ? "Cpu" : plan ? "CudaPlan" : "");
}
INSTANTIATE_TEST_SUITE_P(Forms, DecoderTest, ::testing::ValuesIn(Cases(false)), CaseName);
INSTANTIATE_TEST_SUITE_P(Forms, GpuDecoderTest, ::testing::ValuesIn(Cases(true)), CaseName);

}  // namespace
}  // namespace aicf::states
