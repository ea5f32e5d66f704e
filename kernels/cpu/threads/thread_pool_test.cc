#include "kernels/cpu/threads/thread_pool.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <chrono>
#include <thread>
#include <vector>

namespace aicf::cpu {
namespace {

struct Counts {
  std::vector<std::atomic<int>> seen;
  explicit Counts(size_t n) : seen(n) {}
};

void CountOne(void* context, int64_t i) { static_cast<Counts*>(context)->seen[i].fetch_add(1); }

void ExpectEachOnce(const Counts& counts) {
  for (const auto& c : counts.seen) ASSERT_EQ(c.load(), 1);
}

TEST(ThreadPool, RunsEveryIterationOnce) {
  for (int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (int64_t count : {0, 1, 2, 7, 1000}) {
      Counts counts(static_cast<size_t>(count));
      ThreadPool::ParallelFor(&pool, count, CountOne, &counts);
      ExpectEachOnce(counts);
    }
  }
}

TEST(ThreadPool, ManyShortCallsLoseNothing) {
  ThreadPool pool(4);
  for (int call = 0; call < 20000; ++call) {
    Counts counts(5);
    pool.For(5, CountOne, &counts);
    ExpectEachOnce(counts);
  }
}

TEST(ThreadPool, SleepingWorkersAreNotWaitedForNorLost) {
  ThreadPool pool(3);
  for (int call = 0; call < 20; ++call) {
    std::this_thread::sleep_for(std::chrono::milliseconds(3));  // longer than workers spin
    Counts counts(100);
    pool.For(100, CountOne, &counts);
    ExpectEachOnce(counts);
  }
}

// Wherever the piece ran that memory failed, the caller hears of it, and the pool goes on.
TEST(ThreadPool, WhatAPieceThrowsIsThrownToTheCaller) {
  for (int threads : {1, 2, 4}) {
    ThreadPool pool(threads);
    for (int64_t bad = 0; bad < 8; ++bad) {
      const auto piece = [](void* context, int64_t i) {
        if (i == *static_cast<int64_t*>(context)) throw std::bad_alloc();
      };
      EXPECT_THROW(pool.For(8, piece, &bad), std::bad_alloc) << threads << " " << bad;
      Counts counts(100);
      pool.For(100, CountOne, &counts);
      ExpectEachOnce(counts);
    }
  }
}

TEST(ThreadPool, WorkersTakePart) {
  ThreadPool pool(2);
  struct Meeting {
    std::atomic<int> arrived{0};
  } meeting;
  // Both iterations wait for each other: one thread alone would never return.
  const auto meet = [](void* context, int64_t) {
    auto& m = *static_cast<Meeting*>(context);
    m.arrived.fetch_add(1);
    while (m.arrived.load() < 2) std::this_thread::yield();
  };
  pool.For(2, meet, &meeting);
  EXPECT_EQ(meeting.arrived.load(), 2);
}

TEST(ThreadPool, NestedCallsRunOnTheirOwnThread) {
  ThreadPool pool(3);
  struct Nest {
    ThreadPool* pool;
    Counts counts{64};
    std::atomic<int> strangers{0};
  } nest{&pool, Counts(64), {}};
  struct Inner {
    Nest* nest;
    int64_t base;
    std::thread::id owner;
  };
  const auto outer = [](void* context, int64_t i) {
    Inner inner{static_cast<Nest*>(context), i * 8, std::this_thread::get_id()};
    const auto body = [](void* raw, int64_t j) {
      auto& in = *static_cast<Inner*>(raw);
      in.nest->counts.seen[in.base + j].fetch_add(1);
      if (std::this_thread::get_id() != in.owner) in.nest->strangers.fetch_add(1);
    };
    inner.nest->pool->For(8, body, &inner);
  };
  pool.For(8, outer, &nest);
  ExpectEachOnce(nest.counts);
  EXPECT_EQ(nest.strangers.load(), 0);
}

TEST(ThreadPool, CallersDoNotBlockEachOther) {
  ThreadPool pool(2);
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int c = 0; c < 4; ++c) {
    callers.emplace_back([&] {
      for (int call = 0; call < 500; ++call) {
        Counts counts(9);
        pool.For(9, CountOne, &counts);
        for (const auto& seen : counts.seen) wrong += seen.load() != 1;
      }
    });
  }
  for (std::thread& t : callers) t.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(ThreadPool, DefaultWidthIsTheAffinityMask) {
  const int width = ThreadPool::DefaultThreads();
  EXPECT_GE(width, 1);
  EXPECT_EQ(ThreadPool(0).threads(), width);
  cpu_set_t old, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof(old), &old), 0);
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &old)) {
      CPU_SET(cpu, &one);
      break;
    }
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  EXPECT_EQ(ThreadPool::DefaultThreads(), 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof(old), &old), 0);
}

}  // namespace
}  // namespace aicf::cpu
