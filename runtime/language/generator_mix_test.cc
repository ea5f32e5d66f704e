// Random mixes of requests, with runs that are queued and without.
#include <gtest/gtest.h>

#include <map>

#include "runtime/language/generator_testing.h"

namespace aicf::language {
namespace {

class GeneratorMix : public ::testing::TestWithParam<Queue> {};

/// Everything that is told of a request, and its result.
struct Story {
  std::vector<uint32_t> told;
  std::string text;
  std::vector<FinishReason> reasons;
  GenerateResult result;
};

/// How a mix of requests goes: all follows from the seed, but for when things happen.
struct Mix {
  bool foreseen;   ///< no request ends before its most tokens, and all are there from the start
  bool tight;      ///< hardly more pages than one request may take
  bool invariant;  ///< and the model's numbers depend on the bucket
  unsigned seed;
};

struct MixResult {
  std::vector<Story> stories;
  std::vector<size_t> entries;
  std::vector<uint64_t> order;  ///< whose on_progress was called
  std::string calls;
  int64_t preemptions = 0;
};

GenerateRequest RandomRequest(std::mt19937& random, const Mix& mix) {
  GenerateRequest request;
  for (size_t t = 1 + random() % 40; t > 0; --t) request.prompt.push_back(random() % 97);
  request.max_new_tokens = static_cast<int64_t>(random() % 30);  // 0: until the context is full
  request.temperature = 1;
  request.seed = random();
  request.ignore_end = mix.foreseen;
  if (mix.foreseen) return request;
  if (random() % 4 == 0) request.stop_tokens = {static_cast<uint32_t>(random() % 97)};
  if (random() % 3 == 0) request.stop_texts = {"aa", "cb", "l"};
  return request;
}

MixResult Play(const Mix& mix, Queue queue) {
  std::mt19937 random(mix.seed);
  Layout layout = SmallLayout();
  if (mix.tight) layout.pages = 16;
  if (mix.seed % 3 == 0) layout.decode.pop_back();  // fewer rows than slots
  schema::LanguageModel model = TextModel();
  model.end_tokens = {5, 50};
  const Fixture f({.batch_invariant = mix.invariant}, layout, mix.invariant, model, queue);
  Generator& generator = *f.generator;
  MixResult out;
  constexpr size_t kRequests = 24;
  out.stories.resize(kRequests);
  std::vector<uint64_t> ids;
  const auto submit = [&] {
    GenerateRequest request = RandomRequest(random, mix);
    // One leaves in its own callback, where the number of its tokens does not depend on time.
    const size_t leaves = mix.foreseen || random() % 4 != 0 ? 1000 : 1 + random() % 12;
    request.on_progress = [&, leaves, story = &out.stories[ids.size()]](const auto& progress) {
      out.order.push_back(progress.id);
      story->told.insert(story->told.end(), progress.tokens.begin(), progress.tokens.end());
      story->text += progress.text;
      story->reasons.push_back(progress.finish);
      if (story->told.size() == leaves && progress.finish == FinishReason::kNone) {
        EXPECT_TRUE(generator.Cancel(progress.id).ok());
      }
    };
    ids.push_back(*generator.Submit(request));
  };
  while (ids.size() < kRequests || generator.unfinished() > 0) {
    while (ids.size() < kRequests && (mix.foreseen || random() % 6 == 0)) submit();
    const auto step = generator.Step();
    EXPECT_TRUE(step.ok()) << step.status().ToString();
    if (!step.ok()) break;
    out.preemptions += step->preempted;
  }
  for (size_t i = 0; i < ids.size(); ++i) out.stories[i].result = *generator.Wait(ids[i]);
  EXPECT_EQ(generator.free_pages(), layout.pages);
  EXPECT_EQ(generator.Step()->kind, StepReport::Kind::kIdle);
  EXPECT_EQ(f.runner->under_way(), 0u);
  out.entries = f.runner->entries;
  out.calls = f.runner->calls;
  return out;
}

void ExpectSameStories(const MixResult& expected, const MixResult& found) {
  for (size_t i = 0; i < expected.stories.size(); ++i) {
    const Story &a = expected.stories[i], &b = found.stories[i];
    EXPECT_EQ(a.result.tokens, b.result.tokens) << "request " << i;
    EXPECT_EQ(a.result.text, b.result.text);
    EXPECT_EQ(a.result.finish, b.result.finish);
    EXPECT_EQ(a.told, b.told);
    EXPECT_EQ(a.text, b.text);
    EXPECT_EQ(a.reasons, b.reasons);
  }
}

TEST_P(GeneratorMix, EveryMixOfRequestsBecomesWhatItBecomesWithoutAQueue) {
  int64_t preemptions = 0;
  size_t queued = 0, in_vain = 0;
  std::map<FinishReason, int> finishes;
  for (unsigned seed = 0; seed < 160; ++seed) {
    const Mix mix{
        .foreseen = false, .tight = seed % 2 == 1, .invariant = seed % 4 > 1, .seed = seed};
    const MixResult expected = Play(mix, Queue::kNone), found = Play(mix, GetParam());
    ExpectSameStories(expected, found);
    if (HasFailure()) FAIL() << "seed " << seed;
    preemptions += found.preemptions;
    for (const Story& story : found.stories) ++finishes[story.result.finish];
    for (size_t at = 0; (at = found.calls.find("LL", at)) != std::string::npos; ++at) ++queued;
    in_vain += found.entries.size() > expected.entries.size();
  }
  EXPECT_GT(preemptions, 100);
  EXPECT_GT(queued, 1000u);
  EXPECT_GT(in_vain, 20u);
  for (const FinishReason reason :
       {FinishReason::kLength, FinishReason::kContext, FinishReason::kEndToken,
        FinishReason::kStopToken, FinishReason::kStopText, FinishReason::kCancelled}) {
    EXPECT_GT(finishes[reason], 20) << FinishReasonName(reason);
  }
}

TEST_P(GeneratorMix, WhereAllEndsAreForeseenTheRunsAreTheSameToo) {
  int64_t preemptions = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    const Mix mix{
        .foreseen = true, .tight = seed % 2 == 1, .invariant = seed % 4 > 1, .seed = seed};
    const MixResult expected = Play(mix, Queue::kNone), found = Play(mix, GetParam());
    ExpectSameStories(expected, found);
    EXPECT_EQ(found.entries, expected.entries);
    EXPECT_EQ(found.order, expected.order);
    EXPECT_EQ(found.preemptions, expected.preemptions);
    if (HasFailure()) FAIL() << "seed " << seed;
    preemptions += found.preemptions;
  }
  EXPECT_GT(preemptions, 100);
}

INSTANTIATE_TEST_SUITE_P(Queues, GeneratorMix, ::testing::Values(Queue::kEager, Queue::kLate));

}  // namespace
}  // namespace aicf::language
