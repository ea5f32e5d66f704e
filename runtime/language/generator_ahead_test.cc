// Runs that are queued behind others: what requests become is what they become without a queue.
#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/language/generator_testing.h"

namespace aicf::language {
namespace {

class GeneratorAhead : public ::testing::TestWithParam<Queue> {
 protected:
  std::unique_ptr<Fixture> Make(const Layout& layout = SmallLayout(),
                                const schema::LanguageModel& model = SmallModel()) const {
    return std::make_unique<Fixture>(GeneratorOptions{}, layout, false, model, GetParam());
  }
};

TEST_P(GeneratorAhead, ARunIsLaunchedBeforeTheOneBeforeItIsCollected) {
  const auto f = Make();
  const uint64_t id = *f->generator->Submit({.prompt = {1, 2, 3}, .max_new_tokens = 5});
  ASSERT_TRUE(f->generator->Step().ok());
  EXPECT_EQ(f->runner->calls, "LLC") << "the decode waits for no token of the prefill";
  EXPECT_EQ(f->generator->Wait(id)->tokens, Expected({1, 2, 3}, 5, {}, 97));
  EXPECT_EQ(f->runner->calls, "LLCLCLCLCC") << "no sixth run: it is known where the text ends";
  const Fixture without(Queue::kNone);
  ASSERT_TRUE(
      without.generator->Wait(*without.generator->Submit({.prompt = {1}, .max_new_tokens = 3}))
          .ok());
  EXPECT_EQ(without.runner->calls, "LCLCLC");
}

TEST_P(GeneratorAhead, ChunksOfAPromptAreQueuedToo) {
  const auto f = Make();
  const std::vector<uint32_t> prompt(40, 3);
  const uint64_t id = *f->generator->Submit({.prompt = prompt, .max_new_tokens = 2});
  EXPECT_EQ(f->generator->Wait(id)->tokens, Expected(prompt, 2, {}, 97));
  EXPECT_EQ(f->runner->entries, (std::vector<size_t>{1, 1, 1, 2}));
  EXPECT_EQ(f->runner->calls, "LLCLCLCC");
}

TEST_P(GeneratorAhead, AnEndTokenEndsAtEveryPosition) {
  const std::vector<uint32_t> all = Expected({1, 2, 3}, 20, {}, 97);
  for (size_t at = 0; at < all.size(); ++at) {
    if (std::find(all.begin(), all.begin() + at, all[at]) != all.begin() + at) continue;
    schema::LanguageModel model = SmallModel();
    model.end_tokens = {all[at]};
    const auto f = Make(SmallLayout(), model);
    Generator& generator = *f->generator;
    const auto result =
        *generator.Wait(*generator.Submit({.prompt = {1, 2, 3}, .max_new_tokens = 20}));
    EXPECT_EQ(result.finish, FinishReason::kEndToken);
    EXPECT_EQ(result.tokens, (std::vector<uint32_t>{all.begin(), all.begin() + at + 1}));
    EXPECT_EQ(generator.free_pages(), 40);
    EXPECT_EQ(f->runner->runs, static_cast<int64_t>(std::min(at + 2, all.size())));
    // What takes over its slot and pages meets nothing of the row that was computed in vain.
    const uint64_t next = *generator.Submit({.prompt = {4, 5}, .max_new_tokens = 9, .seed = 1});
    const auto step = *generator.Step();
    EXPECT_EQ(step.kind, StepReport::Kind::kPrefill) << "the run in vain is no step";
    EXPECT_EQ(step.requests, 1);
    const std::vector<uint32_t> expected = Expected({4, 5}, 9, {.seed = 1}, 97);
    const auto ends = std::ranges::find(expected, all[at]);
    EXPECT_EQ(generator.Wait(next)->tokens,
              (std::vector<uint32_t>{expected.begin(), ends + (ends != expected.end())}));
  }
}

TEST_P(GeneratorAhead, ARunInVainIsOverOnceAStepIsIdle) {
  schema::LanguageModel model = SmallModel();
  model.end_tokens = {Expected({1, 2, 3}, 1, {}, 97)[0]};
  const auto f = Make(SmallLayout(), model);
  const uint64_t id = *f->generator->Submit({.prompt = {1, 2, 3}});
  ASSERT_TRUE(f->generator->Step().ok());
  EXPECT_EQ(f->generator->unfinished(), 0u);
  EXPECT_EQ(f->runner->under_way(), 1u);
  EXPECT_EQ(f->generator->Step()->kind, StepReport::Kind::kIdle);
  EXPECT_EQ(f->runner->under_way(), 0u);
  EXPECT_EQ(f->generator->Wait(id)->tokens.size(), 1u);
}

TEST_P(GeneratorAhead, WhoIsCancelledDuringARunInVainTakesPartInNone) {
  schema::LanguageModel model = SmallModel();
  model.end_tokens = {Expected({1, 2, 3}, 1, {}, 97)[0]};
  const auto f = Make(SmallLayout(), model);
  ASSERT_TRUE(f->generator->Submit({.prompt = {1, 2, 3}}).ok());
  ASSERT_TRUE(f->generator->Step().ok());
  const uint64_t id = *f->generator->Submit({.prompt = {4, 5}});
  f->runner->during_run = [&] { EXPECT_TRUE(f->generator->Cancel(id).ok()); };
  EXPECT_EQ(f->generator->Step()->kind, StepReport::Kind::kIdle);
  EXPECT_EQ(f->generator->Wait(id)->finish, FinishReason::kCancelled);
  EXPECT_EQ(f->runner->runs, 2);
}

TEST_P(GeneratorAhead, StepsCountNoRowsInVain) {
  const std::vector<uint32_t> first = Expected({1, 2, 3}, 9, {}, 97);
  const auto f = Make();
  GenerateRequest ends{.prompt = {1, 2, 3}, .max_new_tokens = 9, .stop_tokens = {first[2]}};
  ASSERT_TRUE(f->generator->Submit(ends).ok());
  const uint64_t other = *f->generator->Submit({.prompt = {4, 5, 6}, .max_new_tokens = 9});
  std::vector<int64_t> requests, positions, drawn;
  for (int i = 0; i < 5; ++i) {
    const auto step = *f->generator->Step();
    requests.push_back(step.requests);
    positions.push_back(step.positions);
    drawn.push_back(step.drawn);
  }
  EXPECT_EQ(requests, (std::vector<int64_t>{1, 1, 2, 2, 1}));
  EXPECT_EQ(positions, (std::vector<int64_t>{3, 3, 2, 2, 1}));
  EXPECT_EQ(drawn, (std::vector<int64_t>{1, 1, 2, 2, 1}));
  EXPECT_EQ(f->generator->Wait(other)->tokens, Expected({4, 5, 6}, 9, {}, 97));
}

TEST_P(GeneratorAhead, WhoLeavesBetweenStepsGivesItsPagesBackAtOnce) {
  const auto f = Make();
  Generator& generator = *f->generator;
  const uint64_t cancelled = *generator.Submit({.prompt = {1, 2, 3}, .max_new_tokens = 30});
  const uint64_t forgotten = *generator.Submit({.prompt = {4, 5}, .max_new_tokens = 30});
  const uint64_t kept = *generator.Submit({.prompt = {6}, .max_new_tokens = 30});
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(generator.Step().ok());
  ASSERT_EQ(f->runner->under_way(), 1u);
  const size_t had = generator.Poll(cancelled)->tokens.size();
  ASSERT_TRUE(generator.Cancel(cancelled).ok());
  ASSERT_TRUE(generator.Forget(forgotten).ok());
  EXPECT_EQ(generator.unfinished(), 1u);
  EXPECT_GE(generator.free_pages(), 37) << "all but those of the third";
  const uint64_t next = *generator.Submit({.prompt = {7, 8, 9}, .max_new_tokens = 30});
  EXPECT_EQ(generator.Wait(kept)->tokens, Expected({6}, 30, {}, 97));
  EXPECT_EQ(generator.Wait(next)->tokens, Expected({7, 8, 9}, 30, {}, 97));
  EXPECT_EQ(generator.Wait(cancelled)->tokens, Expected({1, 2, 3}, had, {}, 97));
  EXPECT_EQ(generator.free_pages(), 40);
}

TEST_P(GeneratorAhead, WhatIsSubmittedMeanwhileIsQueuedBehind) {
  const auto f = Make();
  Generator& generator = *f->generator;
  const uint64_t first = *generator.Submit({.prompt = {1, 2, 3}, .max_new_tokens = 30});
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(generator.Step().ok());
  const uint64_t second = *generator.Submit({.prompt = {4, 5}, .max_new_tokens = 30});
  EXPECT_EQ(generator.Step()->kind, StepReport::Kind::kDecode) << "it was queued before";
  EXPECT_EQ(f->runner->under_way(), 1u) << "the prompt needs nothing of what that one drew";
  EXPECT_EQ(generator.Step()->kind, StepReport::Kind::kPrefill);
  EXPECT_EQ(generator.Wait(second)->tokens, Expected({4, 5}, 30, {}, 97));
  EXPECT_EQ(generator.Wait(first)->tokens, Expected({1, 2, 3}, 30, {}, 97));
}

TEST_P(GeneratorAhead, ALaunchAheadThatFailsIsTheNextStepsError) {
  const auto f = Make();
  const uint64_t id = *f->generator->Submit({.prompt = {1, 2, 3}, .max_new_tokens = 9});
  ASSERT_TRUE(f->generator->Step().ok());
  f->runner->fail_launches = 2;
  EXPECT_TRUE(f->generator->Step().ok()) << "its own run was queued before";
  EXPECT_EQ(f->generator->Step().status().code(), Code::kDevice);
  EXPECT_EQ(f->runner->under_way(), 0u);
  f->runner->fail_launches = 1;
  EXPECT_EQ(f->generator->Wait(id).status().code(), Code::kDevice);
  EXPECT_EQ(f->generator->Wait(id)->tokens, Expected({1, 2, 3}, 9, {}, 97));
  EXPECT_EQ(f->generator->free_pages(), 40);
}

TEST_P(GeneratorAhead, ARunThatFailsTakesTheOneBehindItAlong) {
  for (int steps = 0; steps < 5; ++steps) {
    const auto f = Make();
    const uint64_t id = *f->generator->Submit({.prompt = {1, 2, 3}, .max_new_tokens = 9});
    for (int i = 0; i < steps; ++i) ASSERT_TRUE(f->generator->Step().ok());
    f->runner->fail_collects = 1;
    EXPECT_EQ(f->generator->Step().status().code(), Code::kDevice);
    EXPECT_EQ(f->runner->under_way(), 0u);
    EXPECT_EQ(f->generator->Poll(id)->tokens.size(), static_cast<size_t>(steps));
    EXPECT_EQ(f->generator->Wait(id)->tokens, Expected({1, 2, 3}, 9, {}, 97));
  }
}

INSTANTIATE_TEST_SUITE_P(Queues, GeneratorAhead, ::testing::Values(Queue::kEager, Queue::kLate));

}  // namespace
}  // namespace aicf::language
