/// One block of threads as fibers of the calling thread.
#pragma once

#include <ucontext.h>

#include <barrier>
#include <functional>
#include <memory>
#include <vector>

#include "kernels/abi/kernel.h"
#include "tests/conformance/emulated_barrier.h"

namespace aicf::conformance {

/// These must be the same as in emulated_cuda.h, which declares them for the instance.
struct EmulatedIndex {
  int x, y, z;
};
struct EmulatorCalls {
  void (*block_barrier)();
  void (*cluster_barrier)();
  void (*warp_exchange)(const void* own, int bytes, void* all);
  char* dynamic_shared;
  char* (*cluster_shared)(int rank);
  void (*copy)(void* to, const void* from, int bytes);
  void (*copy_commit)();
  void (*copy_wait)(int groups);
  void (*barrier_wait)(const EmulatedBarrier* barrier, unsigned parity);
  void (*copy_line)(void* to, const void* from, int bytes, EmulatedBarrier* barrier);
};
using EmulatedSet = void (*)(EmulatedIndex thread, EmulatedIndex block, const EmulatorCalls* calls);

/// What the blocks of one cluster share. Every block runs on a thread of its own.
struct EmulatedCluster {
  explicit EmulatedCluster(int blocks) : barrier(blocks), shared(static_cast<size_t>(blocks)) {}
  std::barrier<> barrier;
  std::vector<char*> shared;  ///< dynamic shared memory by rank
};

class EmulatedBlock {
 public:
  EmulatedBlock(const abi::LaunchConfig& launch, EmulatedSet set, std::function<void()> body,
                EmulatedCluster& cluster, int rank);

  /// Runs block `index` to its end. False when its threads wait for each other forever, or end
  /// while lines that they asked for are still under way.
  bool Run(EmulatedIndex index);
  /// Whether a thread has written behind the block's shared memory since the last run began.
  bool HasWrittenBehind() const;

 private:
  enum class State { kReady, kBlockBarrier, kClusterBarrier, kWarp, kMemoryBarrier, kDone };
  static constexpr int kSlotBytes = 64;
  struct Copy {
    void* to;
    const void* from;
    int bytes, group;
  };
  struct Fiber {
    ucontext_t context;
    std::unique_ptr<char[]> stack;
    State state = State::kReady;
    EmulatedIndex thread{};
    int exchanges = 0;
    std::vector<Copy> copies;  ///< those under way, in order
    int groups = 0;            ///< groups of copies that have ended
    const EmulatedBarrier* awaited = nullptr;
    unsigned awaited_parity = 0;
  };
  struct LineCopy {
    void* to;
    const void* from;
    int bytes;
    EmulatedBarrier* barrier;
  };
  struct Warp {
    char slots[2][32][kSlotBytes];
  };

  static void Start();
  static void BlockBarrier();
  static void ClusterBarrier();
  static void WarpExchange(const void* own, int bytes, void* all);
  static char* ClusterShared(int rank);
  static void StartCopy(void* to, const void* from, int bytes);
  static void CommitCopies();
  static void WaitForCopies(int groups);
  static void FinishCopies(Fiber& fiber, int before_group);
  static void WaitForBarrier(const EmulatedBarrier* barrier, unsigned parity);
  static void StartLineCopy(void* to, const void* from, int bytes, EmulatedBarrier* barrier);
  bool FinishLineCopy();
  void Prepare(Fiber& fiber);
  void Wait(State state);
  bool Resume();
  bool Release(State from, size_t begin, size_t end);
  bool ReleaseFromBarriers();

  const abi::LaunchConfig launch_;
  const EmulatedSet set_;
  const std::function<void()> body_;
  EmulatedCluster& cluster_;
  std::vector<Fiber> fibers_;
  std::vector<Warp> warps_;
  std::vector<char> dynamic_;
  std::vector<LineCopy> line_copies_;  ///< those under way
  EmulatedIndex index_{};
  EmulatorCalls calls_{};
  Fiber* current_ = nullptr;
  ucontext_t scheduler_{};
};

}  // namespace aicf::conformance
