/// A fixed pool of threads behind abi::ParallelForFn: the width of one CPU session.
///
/// The calling thread takes part, so a pool of one has no threads of its own. Iterations are
/// claimed one at a time in ascending order. A worker that sleeps is woken but never waited for
/// unless it claimed something, so a step never costs a wake-up latency.
///
/// Thread safety: one For at a time gets the workers; one that finds them taken (a nested call, or
/// a second caller) runs on its own thread alone. Results never depend on which thread ran what.
/// Cost: about a microsecond while the workers still spin from the last call; allocates nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>

namespace aicf::cpu {

class ThreadPool {
 public:
  /// Width of the pool, the caller included; values below 1 mean DefaultThreads(). Allocates.
  /// Throws std::system_error, with nothing left running, when the system grants no more threads.
  explicit ThreadPool(int threads);
  /// Joins the workers. REQUIRES: no For is running.
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return worker_count_ + 1; }

  /// Runs fn(context, i) for every i in [0, count) and returns when all are done. fn may throw only
  /// because memory ran out. The remaining iterations are then skipped, and std::bad_alloc is
  /// thrown from here once no thread works any more.
  void For(int64_t count, void (*fn)(void* context, int64_t i), void* context);

  /// abi::ParallelForFn with `stream` = the ThreadPool.
  static void ParallelFor(void* stream, int64_t count, void (*fn)(void* context, int64_t i),
                          void* context);

  /// Cores that the process may run on (its affinity mask), at least 1.
  static int DefaultThreads();

 private:
  struct Job {
    void (*fn)(void*, int64_t) = nullptr;
    void* context = nullptr;
    int64_t count = 0;
  };

  void Work();
  void Stop();
  /// Waits for an epoch other than `seen`, spinning before it sleeps.
  uint32_t AwaitEpoch(uint32_t seen);
  void Drain(const Job& job);

  // Written by the caller alone while gate_ is closed and empty; read by workers inside the gate.
  Job job_;
  alignas(64) std::atomic<int64_t> next_{0};
  /// Open bit and the number of workers inside: a worker enters only while the gate is open, and
  /// the caller, after closing it, waits for those inside.
  alignas(64) std::atomic<uint32_t> gate_{0};
  alignas(64) std::atomic<uint32_t> epoch_{0};
  std::atomic<uint32_t> sleepers_{0};
  std::atomic<bool> taken_{false};
  std::atomic<bool> failed_{false};  ///< a piece of the job at hand threw
  std::atomic<bool> stop_{false};
  int worker_count_ = 0;
  std::unique_ptr<std::thread[]> workers_;
};

}  // namespace aicf::cpu
