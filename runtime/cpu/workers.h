/// The worker threads of one CPU session.
#pragma once

#include <sys/types.h>

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

  /// In a child of fork the worker threads do not exist. The child may still run programs, on its
  /// own thread; there the destructor leaks the pool instead of waiting for its threads.
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  ParallelContext context() {
    return {pool_.get(), &cpu::ThreadPool::ParallelFor, pool_->threads()};
  }

 private:
  explicit Workers(int threads);
  std::unique_ptr<cpu::ThreadPool> pool_;
  pid_t owner_;
};

}  // namespace aicf
