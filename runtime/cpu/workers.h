/// The worker threads of one CPU session.
#pragma once

#include <memory>

#include "base/status.h"
#include "kernels/cpu/threads/thread_pool.h"
#include "runtime/cpu/step_table.h"

namespace aicf {

inline constexpr int kMaxThreads = 1024;

class Workers {
 public:
  /// `threads` 0: one per core that the process may use. Errors: kInvalidArgument beyond
  /// kMaxThreads; kResource when the system grants no more threads.
  static Result<std::unique_ptr<Workers>> Start(int threads);

  ParallelContext context() { return {&pool_, &cpu::ThreadPool::ParallelFor, pool_.threads()}; }

 private:
  explicit Workers(int threads) : pool_(threads) {}
  cpu::ThreadPool pool_;
};

}  // namespace aicf
