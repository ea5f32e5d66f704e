// Many threads at one generator: who submits, polls, cancels and waits while others step.
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <thread>

#include "runtime/language/generator_testing.h"

namespace aicf::language {
namespace {

GenerateRequest RequestOf(uint32_t i) {
  return {.prompt = {i % 97, i / 97 + 1, 5}, .max_new_tokens = 5 + i % 30};
}

void ExpectResult(uint32_t i, const GenerateResult& result) {
  const GenerateRequest asked = RequestOf(i);
  EXPECT_EQ(result.tokens,
            Expected(asked.prompt, static_cast<size_t>(asked.max_new_tokens), {}, 97));
}

class GeneratorThreads : public ::testing::TestWithParam<Queue> {};

TEST_P(GeneratorThreads, AllWait) {
  const Fixture f(GetParam());
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (uint32_t i = 0; i < 25; ++i) {
        const auto id = f.generator->Submit(RequestOf(t * 25 + i));
        ASSERT_TRUE(id.ok());
        const auto result = f.generator->Wait(*id);
        ASSERT_TRUE(result.ok()) << result.status().ToString();
        ExpectResult(t * 25 + i, *result);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(f.generator->free_pages(), 40);
}

TEST_P(GeneratorThreads, OneStepsAndOthersPollAndCancel) {
  const Fixture f(GetParam());
  std::atomic<bool> done = false;
  std::thread stepper([&] {
    while (!done) ASSERT_TRUE(f.generator->Step().ok());
  });
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (uint32_t i = 0; i < 40; ++i) {
        const uint32_t number = t * 40 + i;
        const uint64_t id = *f.generator->Submit(RequestOf(number));
        GenerateResult all;
        while (all.finish == FinishReason::kNone) {
          const auto part = f.generator->Poll(id);
          ASSERT_TRUE(part.ok()) << part.status().ToString();
          all.tokens.insert(all.tokens.end(), part->tokens.begin(), part->tokens.end());
          all.finish = part->finish;
          if (i % 4 == 3 && all.finish == FinishReason::kNone) {
            ASSERT_TRUE(f.generator->Cancel(id).ok());
          }
          if (i % 4 == 2 && all.finish == FinishReason::kNone) break;
        }
        if (all.finish == FinishReason::kNone) {
          ASSERT_TRUE(f.generator->Forget(id).ok());
        } else if (all.finish == FinishReason::kLength) {
          ExpectResult(number, all);
        } else {
          EXPECT_EQ(all.finish, FinishReason::kCancelled);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  done = true;
  stepper.join();
  while (f.generator->unfinished() > 0) ASSERT_TRUE(f.generator->Step().ok());
  EXPECT_EQ(f.generator->free_pages(), 40);
}

TEST_P(GeneratorThreads, CallbacksMaySubmitAndCancelButNotStep) {
  const Fixture f(GetParam());
  Generator& generator = *f.generator;
  uint64_t second = 0;
  Code stepped = Code::kOk, waited = Code::kOk;
  FinishReason second_end = FinishReason::kNone;
  GenerateRequest request = RequestOf(1);
  request.on_progress = [&](const GenerateProgress& progress) {
    stepped = generator.Step().status().code();
    waited = generator.Wait(progress.id).status().code();
    if (progress.finish == FinishReason::kNone || second != 0) return;
    GenerateRequest next = RequestOf(2);
    next.on_progress = [&](const GenerateProgress& p) { second_end = p.finish; };
    second = *generator.Submit(next);
    EXPECT_TRUE(generator.Cancel(second).ok());
  };
  const uint64_t first = *generator.Submit(request);
  ExpectResult(1, *generator.Wait(first));
  EXPECT_EQ(stepped, Code::kInvalidArgument);
  EXPECT_EQ(waited, Code::kInvalidArgument);
  EXPECT_EQ(second_end, FinishReason::kCancelled) << "the step that cancelled it told";
  EXPECT_EQ(generator.Wait(second)->finish, FinishReason::kCancelled);
}

INSTANTIATE_TEST_SUITE_P(Queues, GeneratorThreads, ::testing::Values(Queue::kNone, Queue::kLate));

}  // namespace
}  // namespace aicf::language
