// When on_progress is called: never after Wait, Poll or Forget have said that it is over.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "runtime/language/generator_testing.h"

namespace aicf::language {
namespace {

using std::chrono::milliseconds;

/// An on_progress that counts its calls, and stays inside each until it may go on.
struct Gate {
  std::atomic<int> begun = 0, returned = 0;
  std::atomic<bool> open = false;

  std::function<void(const GenerateProgress&)> Callback() {
    return [this](const GenerateProgress&) {
      ++begun;
      while (!open) std::this_thread::yield();
      ++returned;
    };
  }
  void AwaitBegun(int count) const {
    while (begun < count) std::this_thread::yield();
  }
  /// Lets the calls go on in a while: whoever does not wait for that is there before.
  std::thread OpenSoon() {
    return std::thread([this] {
      std::this_thread::sleep_for(milliseconds(50));
      open = true;
    });
  }
};

class GeneratorTold : public ::testing::TestWithParam<Queue> {};

TEST_P(GeneratorTold, WaitTellsOfACancelledRequestItself) {
  const Fixture f(GetParam());
  int calls = 0;
  FinishReason told = FinishReason::kNone;
  const uint64_t id = *f.generator->Submit({.prompt = {1}, .on_progress = [&](const auto& p) {
                                              ++calls;
                                              told = p.finish;
                                            }});
  ASSERT_TRUE(f.generator->Submit({.prompt = {2}, .max_new_tokens = 2}).ok());
  ASSERT_TRUE(f.generator->Cancel(id).ok());
  EXPECT_EQ(f.generator->Wait(id)->finish, FinishReason::kCancelled);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(told, FinishReason::kCancelled);
  EXPECT_EQ(f.runner->runs, 0) << "the other request had to wait for nothing";
  ASSERT_TRUE(f.generator->Step().ok());
  EXPECT_EQ(calls, 1);
}

TEST_P(GeneratorTold, PollSaysThatARequestIsCancelledOnceThatIsTold) {
  const Fixture f(GetParam());
  int calls = 0;
  const uint64_t id =
      *f.generator->Submit({.prompt = {1}, .on_progress = [&](const auto&) { ++calls; }});
  ASSERT_TRUE(f.generator->Cancel(id).ok());
  EXPECT_EQ(f.generator->Poll(id)->finish, FinishReason::kNone);
  EXPECT_EQ(f.generator->unfinished(), 1u) << "whoever steps while there are some gets it told";
  EXPECT_EQ(f.generator->Step()->kind, StepReport::Kind::kIdle);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(f.generator->unfinished(), 0u);
  EXPECT_EQ(f.generator->Poll(id)->finish, FinishReason::kCancelled);
  EXPECT_FALSE(f.generator->Poll(id).ok());
}

TEST_P(GeneratorTold, WaitReturnsAfterTheLastCall) {
  const Fixture f(GetParam());
  Gate gate;
  const uint64_t id =
      *f.generator->Submit({.prompt = {1, 2}, .max_new_tokens = 1, .on_progress = gate.Callback()});
  std::thread stepper([&] { EXPECT_TRUE(f.generator->Step().ok()); });
  gate.AwaitBegun(1);
  std::thread opener = gate.OpenSoon();
  EXPECT_EQ(f.generator->Wait(id)->tokens.size(), 1u);
  EXPECT_EQ(gate.returned, 1);
  stepper.join();
  opener.join();
}

TEST_P(GeneratorTold, WaitWaitsForNoCallOfAnother) {
  const Fixture f(GetParam());
  Gate quick, slow;
  const uint64_t first = *f.generator->Submit({.prompt = {1}, .on_progress = quick.Callback()});
  const uint64_t second = *f.generator->Submit({.prompt = {2}, .on_progress = slow.Callback()});
  ASSERT_TRUE(f.generator->Cancel(first).ok());
  ASSERT_TRUE(f.generator->Cancel(second).ok());
  std::thread stepper([&] { EXPECT_TRUE(f.generator->Step().ok()); });
  quick.AwaitBegun(1);
  std::thread opener = quick.OpenSoon();
  EXPECT_EQ(f.generator->Wait(first)->finish, FinishReason::kCancelled);
  EXPECT_EQ(quick.returned, 1);
  slow.AwaitBegun(1);
  EXPECT_EQ(slow.returned, 0) << "the same step tells both";
  slow.open = true;
  stepper.join();
  opener.join();
  EXPECT_EQ(f.generator->Wait(second)->finish, FinishReason::kCancelled);
}

TEST_P(GeneratorTold, PollReportsTheEndAfterTheLastCallAndNeverWaits) {
  const Fixture f(GetParam());
  Gate gate;
  const uint64_t id =
      *f.generator->Submit({.prompt = {1, 2}, .max_new_tokens = 1, .on_progress = gate.Callback()});
  std::thread stepper([&] { EXPECT_TRUE(f.generator->Step().ok()); });
  gate.AwaitBegun(1);
  const auto during = f.generator->Poll(id);
  EXPECT_EQ(during->tokens.size(), 1u);
  EXPECT_EQ(during->finish, FinishReason::kNone);
  gate.open = true;
  stepper.join();
  const auto after = f.generator->Poll(id);
  EXPECT_EQ(after->tokens.size(), 0u);
  EXPECT_EQ(after->finish, FinishReason::kLength);
}

TEST_P(GeneratorTold, ForgetReturnsAfterTheCallThatGoesOn) {
  for (const int64_t tokens : {1, 30}) {  // the last call, or one of many
    const Fixture f(GetParam());
    Gate gate;
    const uint64_t id = *f.generator->Submit(
        {.prompt = {1, 2}, .max_new_tokens = tokens, .on_progress = gate.Callback()});
    std::thread stepper([&] {
      do {
        EXPECT_TRUE(f.generator->Step().ok());
      } while (f.generator->unfinished() > 0);
    });
    gate.AwaitBegun(1);
    std::thread opener = gate.OpenSoon();
    EXPECT_TRUE(f.generator->Forget(id).ok());
    EXPECT_EQ(gate.returned, 1);
    stepper.join();
    opener.join();
    EXPECT_EQ(gate.begun, 1) << "no call comes after it";
    EXPECT_EQ(f.generator->free_pages(), 40);
  }
}

TEST_P(GeneratorTold, NothingIsToldOfAForgottenRequest) {
  const Fixture f(GetParam());
  int calls = 0;
  const auto count = [&](const auto&) { ++calls; };
  for (const bool cancel : {false, true}) {
    const uint64_t id = *f.generator->Submit({.prompt = {1}, .on_progress = count});
    if (cancel) {
      ASSERT_TRUE(f.generator->Cancel(id).ok());
    }
    ASSERT_TRUE(f.generator->Forget(id).ok());
    EXPECT_EQ(f.generator->unfinished(), 0u);
    EXPECT_EQ(f.generator->Step()->kind, StepReport::Kind::kIdle);
  }
  EXPECT_EQ(calls, 0);
}

TEST_P(GeneratorTold, ACallbackMayForgetWhoseTurnIsNext) {
  const Fixture f(GetParam());
  int calls = 0;
  uint64_t second = 0;
  const uint64_t first = *f.generator->Submit({.prompt = {1}, .on_progress = [&](const auto&) {
                                                 EXPECT_TRUE(f.generator->Forget(second).ok());
                                               }});
  second = *f.generator->Submit({.prompt = {2}, .on_progress = [&](const auto&) { ++calls; }});
  ASSERT_TRUE(f.generator->Cancel(first).ok());
  ASSERT_TRUE(f.generator->Cancel(second).ok());
  EXPECT_EQ(f.generator->Wait(first)->finish, FinishReason::kCancelled);
  EXPECT_EQ(f.generator->Step()->kind, StepReport::Kind::kIdle);
  EXPECT_EQ(calls, 0);
}

TEST_P(GeneratorTold, CallsInsideItsOwnCallDoNotWaitForIt) {
  const Fixture f(GetParam());
  Generator& generator = *f.generator;
  std::vector<FinishReason> polled;
  const uint64_t polls = *generator.Submit(
      {.prompt = {1}, .max_new_tokens = 2, .on_progress = [&](const auto& progress) {
         EXPECT_EQ(generator.Wait(progress.id).status().code(), Code::kInvalidArgument);
         polled.push_back(generator.Poll(progress.id)->finish);
       }});
  int calls = 0;
  const uint64_t forgets = *generator.Submit(
      {.prompt = {2}, .max_new_tokens = 2, .on_progress = [&](const auto& progress) {
         ++calls;
         EXPECT_TRUE(generator.Forget(progress.id).ok());
       }});
  while (generator.unfinished() > 0) ASSERT_TRUE(generator.Step().ok());
  EXPECT_EQ(polled, (std::vector{FinishReason::kNone, FinishReason::kLength}));
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(generator.Poll(polls).ok()) << "its last call has taken its end";
  EXPECT_FALSE(generator.Poll(forgets).ok());
}

TEST_P(GeneratorTold, PollInsideACallBeforeTheLastSaysNothingOfTheEnd) {
  const Fixture f(GetParam());
  Generator& generator = *f.generator;
  std::vector<FinishReason> told, polled;
  const uint64_t id = *generator.Submit({.prompt = {1}, .on_progress = [&](const auto& progress) {
                                           told.push_back(progress.finish);
                                           if (progress.finish != FinishReason::kNone) return;
                                           EXPECT_TRUE(generator.Cancel(progress.id).ok());
                                           polled.push_back(generator.Poll(progress.id)->finish);
                                         }});
  ASSERT_TRUE(generator.Step().ok());
  EXPECT_EQ(told, (std::vector{FinishReason::kNone, FinishReason::kCancelled}));
  EXPECT_EQ(polled, std::vector{FinishReason::kNone});
  EXPECT_EQ(generator.Poll(id)->finish, FinishReason::kCancelled);
}

TEST_P(GeneratorTold, ACallbackThatThrowsKeepsNobodyWaiting) {
  const Fixture f(GetParam());
  int calls = 0;
  const uint64_t throws = *f.generator->Submit(
      {.prompt = {1}, .on_progress = [](const auto&) { throw std::runtime_error("planted"); }});
  const uint64_t other =
      *f.generator->Submit({.prompt = {2}, .on_progress = [&](const auto&) { ++calls; }});
  ASSERT_TRUE(f.generator->Cancel(throws).ok());
  ASSERT_TRUE(f.generator->Cancel(other).ok());
  EXPECT_EQ(f.generator->Step().status().code(), Code::kInternal);
  EXPECT_EQ(f.generator->Wait(throws)->finish, FinishReason::kCancelled);
  EXPECT_EQ(f.generator->Wait(other)->finish, FinishReason::kCancelled);
  EXPECT_EQ(calls, 1);
}

TEST_P(GeneratorTold, WhatACallbackRefersToMayGoOnceTheRequestIsOver) {
  const Fixture f(GetParam());
  std::atomic<bool> done = false;
  std::atomic<int> late = 0;
  std::thread stepper([&] {
    while (!done) EXPECT_TRUE(f.generator->Step().ok());
  });
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (uint32_t i = 0; i < 60; ++i) {
        const auto alive = std::make_shared<std::atomic<bool>>(true);
        const auto id = *f.generator->Submit({.prompt = {t + 1, i + 1},
                                              .max_new_tokens = 1 + i % 3,
                                              .on_progress = [&late, alive](const auto&) {
                                                if (!*alive) ++late;
                                                std::this_thread::yield();
                                                if (!*alive) ++late;
                                              }});
        if (i % 5 == 4) {
          EXPECT_TRUE(f.generator->Cancel(id).ok());
        }
        if (t == 0) {
          while (f.generator->Poll(id)->finish == FinishReason::kNone) std::this_thread::yield();
        } else if (t == 1) {
          if (i % 2 == 0) std::this_thread::yield();
          EXPECT_TRUE(f.generator->Forget(id).ok());
        } else {
          EXPECT_TRUE(f.generator->Wait(id).ok());
        }
        *alive = false;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  done = true;
  stepper.join();
  EXPECT_EQ(late, 0);
}

INSTANTIATE_TEST_SUITE_P(Queues, GeneratorTold, ::testing::Values(Queue::kNone, Queue::kLate));

}  // namespace
}  // namespace aicf::language
