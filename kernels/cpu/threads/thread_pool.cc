#include "kernels/cpu/threads/thread_pool.h"

#include <sched.h>

#include <algorithm>
#include <new>

namespace aicf::cpu {
namespace {

constexpr uint32_t kOpen = 1u << 31;
/// Number of spins before a worker sleeps or a caller yields, about 50 microseconds. That is longer
/// than the gap between two steps of a replay, and too short for an idle session to be noticed.
constexpr int kSpins = 1500;

inline void Pause() { __builtin_ia32_pause(); }

}  // namespace

int ThreadPool::DefaultThreads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

ThreadPool::ThreadPool(int threads) {
  worker_count_ = (threads < 1 ? DefaultThreads() : threads) - 1;
  workers_ = std::make_unique<std::thread[]>(static_cast<size_t>(worker_count_));
  for (int i = 0; i < worker_count_; ++i) {
    try {
      workers_[i] = std::thread([this] { Work(); });
    } catch (...) {
      worker_count_ = i;
      Stop();
      throw;
    }
  }
}

ThreadPool::~ThreadPool() { Stop(); }

void ThreadPool::Stop() {
  stop_.store(true);
  epoch_.fetch_add(1);
  epoch_.notify_all();
  for (int i = 0; i < worker_count_; ++i) workers_[i].join();
}

void ThreadPool::ParallelFor(void* stream, int64_t count, void (*fn)(void*, int64_t),
                             void* context) {
  static_cast<ThreadPool*>(stream)->For(count, fn, context);
}

void ThreadPool::For(int64_t count, void (*fn)(void*, int64_t), void* context) {
  // An exchange instead of a lock: a caller that finds the workers taken does not wait but runs the
  // iterations alone.
  if (count <= 1 || worker_count_ == 0 || taken_.exchange(true, std::memory_order_acquire)) {
    for (int64_t i = 0; i < count; ++i) fn(context, i);
    return;
  }
  job_ = {fn, context, count};
  next_.store(0, std::memory_order_relaxed);
  gate_.store(kOpen, std::memory_order_release);
  // Sequentially consistent with the sleepers_/epoch_ pair in AwaitEpoch: either the worker sees
  // the new epoch before it sleeps, or this thread sees the sleeper.
  epoch_.fetch_add(1);
  if (sleepers_.load() != 0) epoch_.notify_all();

  Drain(job_);

  gate_.fetch_and(~kOpen, std::memory_order_acq_rel);
  for (int spins = 0; gate_.load(std::memory_order_acquire) != 0;) {
    if (spins < kSpins) {
      ++spins;
      Pause();
    } else {
      // A worker that is still inside may have lost its core to another process: yield this one to
      // it.
      std::this_thread::yield();
    }
  }
  const bool failed = failed_.exchange(false, std::memory_order_relaxed);
  taken_.store(false, std::memory_order_release);
  if (failed) throw std::bad_alloc();
}

void ThreadPool::Drain(const Job& job) {
  for (;;) {
    const int64_t i = next_.fetch_add(1, std::memory_order_relaxed);
    if (i >= job.count) return;
    try {
      job.fn(job.context, i);
    } catch (...) {
      // On a worker's thread nobody would catch the exception. On the caller's thread it must not
      // leave For before all workers have, since what they work on may lie on the caller's stack.
      failed_.store(true, std::memory_order_relaxed);
      next_.store(job.count, std::memory_order_relaxed);
    }
  }
}

uint32_t ThreadPool::AwaitEpoch(uint32_t seen) {
  for (int spins = 0; spins < kSpins; ++spins) {
    const uint32_t now = epoch_.load(std::memory_order_acquire);
    if (now != seen) return now;
    Pause();
  }
  sleepers_.fetch_add(1);
  epoch_.wait(seen);
  sleepers_.fetch_sub(1);
  return epoch_.load(std::memory_order_acquire);
}

void ThreadPool::Work() {
  for (uint32_t seen = 0;;) {
    seen = AwaitEpoch(seen);
    if (stop_.load()) return;
    uint32_t gate = gate_.load(std::memory_order_acquire);
    while ((gate & kOpen) != 0 &&
           !gate_.compare_exchange_weak(gate, gate + 1, std::memory_order_acq_rel)) {
    }
    if ((gate & kOpen) == 0) continue;
    Drain(job_);
    gate_.fetch_sub(1, std::memory_order_acq_rel);
  }
}

}  // namespace aicf::cpu
