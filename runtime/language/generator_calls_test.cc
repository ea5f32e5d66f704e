// Calls of a generator between runs and during them: poll, cancel, forget, and what a step costs.
#include <gtest/gtest.h>

#include <algorithm>

#include "aicf/generator.h"
#include "runtime/language/generator_testing.h"
#include "runtime/test_allocations.h"

namespace aicf::language {
namespace {

class GeneratorCalls : public ::testing::TestWithParam<Queue> {};

TEST_P(GeneratorCalls, PollGivesWhatIsNew) {
  const Fixture f(GetParam());
  const uint64_t id = *f.generator->Submit({.prompt = {1, 2, 3}, .max_new_tokens = 3});
  std::vector<uint32_t> tokens;
  for (;;) {
    const auto step = f.generator->Step();
    ASSERT_TRUE(step.ok());
    const auto part = f.generator->Poll(id);
    ASSERT_TRUE(part.ok());
    EXPECT_EQ(part->tokens.size(), 1u);
    tokens.insert(tokens.end(), part->tokens.begin(), part->tokens.end());
    if (part->finish != FinishReason::kNone) break;
  }
  EXPECT_EQ(tokens, Expected({1, 2, 3}, 3, {}, 97));
  EXPECT_FALSE(f.generator->Poll(id).ok());
  EXPECT_EQ(f.generator->Step()->kind, StepReport::Kind::kIdle);
}

TEST_P(GeneratorCalls, ACancelledRequestKeepsWhatItHas) {
  const Fixture f(GetParam());
  const uint64_t id = *f.generator->Submit({.prompt = {1, 2, 3}, .max_new_tokens = 30});
  const uint64_t other = *f.generator->Submit({.prompt = {4, 5}, .max_new_tokens = 4});
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(f.generator->Step().ok());
  ASSERT_TRUE(f.generator->Cancel(id).ok());
  ASSERT_TRUE(f.generator->Cancel(id).ok()) << "again";
  EXPECT_EQ(f.generator->unfinished(), 1u);
  EXPECT_EQ(f.generator->Wait(other)->tokens, Expected({4, 5}, 4, {}, 97));
  const auto result = f.generator->Wait(id);
  EXPECT_EQ(result->finish, FinishReason::kCancelled);
  EXPECT_EQ(result->tokens, Expected({1, 2, 3}, result->tokens.size(), {}, 97));
  EXPECT_EQ(f.generator->free_pages(), 40);
}

TEST_P(GeneratorCalls, OthersMayDoAnythingDuringARun) {
  const Fixture f(GetParam());
  Generator& generator = *f.generator;
  const uint64_t cancelled = *generator.Submit({.prompt = {1, 2, 3}, .max_new_tokens = 30});
  const uint64_t forgotten = *generator.Submit({.prompt = {7, 8}, .max_new_tokens = 30});
  const uint64_t kept = *generator.Submit({.prompt = {4, 5}, .max_new_tokens = 9});
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(generator.Step().ok());
  size_t before = 0;
  uint64_t late = 0;
  f.runner->during_run = [&] {
    before = generator.Poll(cancelled)->tokens.size();
    EXPECT_TRUE(generator.Cancel(cancelled).ok());
    EXPECT_TRUE(generator.Forget(forgotten).ok());
    EXPECT_EQ(generator.unfinished(), 3u) << "it ends after the run";
    late = *generator.Submit({.prompt = {6}, .max_new_tokens = 3});
    f.runner->during_run = nullptr;
  };
  ASSERT_TRUE(generator.Step().ok());
  EXPECT_EQ(generator.unfinished(), 2u);
  const auto result = generator.Wait(cancelled);
  EXPECT_EQ(result->finish, FinishReason::kCancelled);
  EXPECT_GT(before, 0u);
  EXPECT_EQ(result->tokens.size(), before) << "what the run drew after that is nobody's";
  EXPECT_EQ(generator.Wait(kept)->tokens, Expected({4, 5}, 9, {}, 97));
  EXPECT_EQ(generator.Wait(late)->tokens, Expected({6}, 3, {}, 97));
  EXPECT_EQ(generator.free_pages(), 40);
}

TEST_P(GeneratorCalls, AForgottenRequestTakesNothing) {
  const Fixture f(GetParam());
  const uint64_t id = *f.generator->Submit({.prompt = {1, 2, 3}, .max_new_tokens = 30});
  ASSERT_TRUE(f.generator->Step().ok());
  ASSERT_TRUE(f.generator->Forget(id).ok());
  EXPECT_EQ(f.generator->unfinished(), 0u);
  EXPECT_EQ(f.generator->free_pages(), 40);
  EXPECT_FALSE(f.generator->Poll(id).ok());
}

TEST(GeneratorSteps, ARunThatFailsChangesNothing) {
  const Fixture f;
  const uint64_t id = *f.generator->Submit({.prompt = {1, 2, 3}, .max_new_tokens = 9});
  ASSERT_TRUE(f.generator->Step().ok());
  f.runner->fail_launches = 1;
  EXPECT_EQ(f.generator->Step().status().code(), Code::kDevice);
  f.runner->fail_collects = 1;
  EXPECT_EQ(f.generator->Wait(id).status().code(), Code::kDevice);
  EXPECT_EQ(f.generator->Wait(id)->tokens, Expected({1, 2, 3}, 9, {}, 97));
}

TEST_P(GeneratorCalls, StepsSayWhatTheyDid) {
  const Fixture f(GetParam());
  ASSERT_TRUE(
      f.generator->Submit({.prompt = std::vector<uint32_t>(18, 3), .max_new_tokens = 3}).ok());
  auto step = *f.generator->Step();
  EXPECT_EQ(step.kind, StepReport::Kind::kPrefill);
  EXPECT_EQ(step.entry, 1u);
  EXPECT_EQ(step.positions, 16);
  EXPECT_EQ(step.drawn, 0);
  step = *f.generator->Step();
  EXPECT_EQ(step.entry, 0u);
  EXPECT_EQ(step.positions, 2);
  EXPECT_EQ(step.drawn, 1);
  step = *f.generator->Step();
  EXPECT_EQ(step.kind, StepReport::Kind::kDecode);
  EXPECT_EQ(step.requests, 1);
}

/// Gives the same token for ever, and allocates nothing.
class QuietRunner final : public Runner {
 public:
  explicit QuietRunner(size_t most_under_way) : most_under_way_(most_under_way) {}
  size_t most_under_way() const override { return most_under_way_; }
  Status Launch(const Bucket&, const RunMetas&) override {
    ++launches;
    return OkStatus();
  }
  Status Collect(std::span<int32_t> tokens) override {
    std::ranges::fill(tokens, 5);
    return OkStatus();
  }
  MemoryReport memory() const override { return {}; }
  std::string device_name() const override { return "quiet"; }

  int64_t launches = 0;

 private:
  const size_t most_under_way_;
};

TEST(GeneratorSteps, AllocateNothing) {
  Layout layout = SmallLayout();
  layout.pages = 20;  // too few for all: requests lose their pages, too
  for (const size_t most_under_way : {1, 2}) {
    const auto generator =
        *MakeGenerator(SmallModel(), layout, std::make_unique<QuietRunner>(most_under_way), {});
    for (uint32_t i = 1; i < 12; ++i) {
      const GenerateRequest request{.prompt = std::vector<uint32_t>(i * 3, 1)};
      ASSERT_TRUE(generator->Submit(request).ok());
    }
    int64_t steps = 0, preempted = 0, allocations = 0;
    while (generator->unfinished() > 0) {
      const int64_t before = testing::AllocationCount();
      const auto step = generator->Step();
      allocations += testing::AllocationCount() - before;
      ASSERT_TRUE(step.ok());
      ++steps;
      preempted += step->preempted;
    }
    EXPECT_EQ(allocations, 0) << "in " << steps << " steps";
    EXPECT_GT(preempted, 0);
  }
}

TEST(GeneratorSteps, TenThousandDecodesAreOneLaunchEachAndAllocateNothing) {
  constexpr int64_t kSteps = 10000;
  Layout layout = SmallLayout();
  layout.context = 2 * kSteps;
  layout.table_pages = layout.pages = layout.context / layout.page;
  auto owned = std::make_unique<QuietRunner>(2);
  const QuietRunner& runner = *owned;
  const auto generator = *MakeGenerator(SmallModel(), layout, std::move(owned), {});
  const uint64_t id = *generator->Submit({.prompt = {1}, .max_new_tokens = kSteps});
  const int64_t before = testing::AllocationCount();
  for (int64_t step = 1; step <= kSteps; ++step) {
    const auto report = generator->Step();
    ASSERT_TRUE(report.ok() && report->kind == StepReport::Kind::kDecode && report->drawn == 1);
    ASSERT_EQ(runner.launches, std::min(step + 1, kSteps)) << "one is queued, but for the last";
  }
  EXPECT_EQ(testing::AllocationCount() - before, 0);
  EXPECT_EQ(generator->unfinished(), 0u);
  EXPECT_EQ(generator->free_pages(), layout.pages);
  EXPECT_EQ(generator->Wait(id)->tokens, std::vector<uint32_t>(kSteps, 5));
}

TEST(GeneratorSteps, OptionsAreChecked) {
  const auto made =
      MakeGenerator(SmallModel(), SmallLayout(), std::make_unique<FakeRunner>(SmallLayout()),
                    {.prefills_in_a_row = 0});
  EXPECT_EQ(made.status().code(), Code::kInvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(Queues, GeneratorCalls,
                         ::testing::Values(Queue::kNone, Queue::kEager, Queue::kLate));

}  // namespace
}  // namespace aicf::language
