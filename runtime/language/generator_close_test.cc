// A generator that is destroyed while others are inside it.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "runtime/language/c_api.h"
#include "runtime/language/generator_testing.h"

namespace aicf::language {
namespace {

TEST(GeneratorClose, EndsAllRequestsAndTakesNoMore) {
  const Fixture f;
  Generator& generator = *f.generator;
  int calls = 0;
  const uint64_t begun = *generator.Submit({.prompt = {1, 2}, .max_new_tokens = 30});
  const uint64_t told =
      *generator.Submit({.prompt = {3}, .on_progress = [&](const auto&) { ++calls; }});
  ASSERT_TRUE(generator.Step().ok());
  ASSERT_TRUE(static_cast<GeneratorImpl&>(generator).Close().ok());
  EXPECT_EQ(generator.free_pages(), 40);
  EXPECT_EQ(generator.Submit({.prompt = {4}}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(generator.Wait(begun)->finish, FinishReason::kCancelled);
  EXPECT_EQ(generator.Wait(told)->finish, FinishReason::kCancelled);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(f.runner->runs, 1);
}

/// Waits for a request of its own, through the C interface.
struct Waiter {
  explicit Waiter(aicf_generator generator) {
    const uint32_t prompt[] = {1, 2, 3};
    aicf_generate_request request;
    aicf_generate_request_init(&request);
    request.prompt = prompt;
    request.prompt_count = 3;
    request.max_new_tokens = 50;
    EXPECT_EQ(aicf_generator_submit(generator, &request, &id), AICF_OK);
    thread = std::thread([this, generator] {
      aicf_generate_part part{};
      EXPECT_EQ(aicf_generator_wait(generator, id, &part), AICF_OK) << aicf_last_error();
      finish = part.finish;
      tokens = part.token_count;
    });
  }
  uint64_t id = 0;
  aicf_finish_reason finish = AICF_FINISH_NONE;
  uint64_t tokens = 0;
  std::thread thread;
};

TEST(GeneratorClose, DestroyingOneInCLetsThreadsThatWaitReturnAtOnce) {
  for (const Queue queue : {Queue::kNone, Queue::kLate}) {
    Fixture f(queue);
    // The run that destroying finds goes on until that has begun; those after it would take long.
    std::atomic<int> runs = 0;
    f.runner->during_run = [&] {
      ++runs;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    };
    const aicf_generator generator = HandleOf(std::move(f.generator));
    Waiter first(generator), second(generator);
    // Both are inside once several runs are over.
    while (runs < 4) std::this_thread::yield();
    EXPECT_EQ(aicf_generator_destroy(generator), AICF_OK);
    first.thread.join();
    second.thread.join();
    for (const Waiter* waiter : {&first, &second}) {
      EXPECT_EQ(waiter->finish, AICF_FINISH_CANCELLED);
      EXPECT_LT(waiter->tokens, 50u);
    }
    EXPECT_LT(runs, 20);
    EXPECT_EQ(aicf_generator_destroy(generator), AICF_INVALID_ARGUMENT);
    EXPECT_EQ(aicf_generator_step(generator, nullptr), AICF_INVALID_ARGUMENT);
  }
}

TEST(GeneratorClose, ThreadsThatDestroyTheSameOneAgreeOnWhoDid) {
  for (int i = 0; i < 50; ++i) {
    const aicf_generator generator = HandleOf(std::move(Fixture().generator));
    std::atomic<int> succeeded = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&] { succeeded += aicf_generator_destroy(generator) == AICF_OK; });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(succeeded, 1);
  }
}

}  // namespace
}  // namespace aicf::language
