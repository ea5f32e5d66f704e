/// A program's steps made ready for the CPU: one argument block per step, built once at load.
///
/// A CPU artifact runs the kernels it names. A CUDA artifact runs every step on the reference
/// kernel of its family, in the same arena and with the same aliases, so that its fusion and memory
/// plan are executed for real. Where a device kernel may overwrite an operand that the reference
/// kernel still reads, the operand is copied aside before the step: the meaning of a step is that
/// it reads before it writes.
///
/// For verification a CPU artifact runs on reference kernels too (StepTable::Kernels).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/status.h"
#include "kernels/abi/kernel.h"
#include "runtime/budget.h"
#include "runtime/cpu/memory.h"
#include "runtime/step_by_step.h"
#include "schema/artifact.h"
#include "schema/loop_tree.h"

namespace aicf {

/// How a step's kernel runs its iterations; outlives the table.
struct ParallelContext {
  void* stream = nullptr;
  abi::ParallelForFn parallel_for = nullptr;
  int threads = 1;
};

/// First byte of every buffer, aliases resolved.
using BufferAddresses = std::vector<std::byte*>;

/// Where a table finds buffers that are no weights; outlives the table.
struct TableMemory {
  std::byte* arena = nullptr;  ///< program.arena_bytes bytes
  std::byte* state = nullptr;  ///< program.state_bytes bytes
  /// Bound memory, which takes the place of the two above, indexed by the root of a buffer's alias
  /// chain; nullptr where a buffer is not bound, empty where none is.
  std::span<std::byte* const> bound = {};
};

class StepTable {
 public:
  /// Which kernels run.
  struct Kernels {
    /// Every step runs on the reference kernel of its family, whatever the target. The steps of a
    /// CUDA artifact always do.
    bool reference = false;
    /// What reference kernels read in place of packed operands, whose layouts they do not know. A
    /// packed operand that is not here is unpacked by its step's own kernel when the table is
    /// built, into memory of the table.
    std::span<const UnpackedInput> unpacked = {};
  };

  /// Resolves every address inside `memory` and the artifact's weights. Both must outlive the
  /// table. REQUIRES: a verified artifact. Errors: kUnsupported for a kernel this build lacks;
  /// kResource for scratch memory and unpacked operands.
  static Result<StepTable> Build(const schema::Artifact& artifact, const schema::EntryPoint& entry,
                                 const TableMemory& memory, const ParallelContext& parallel,
                                 const Kernels& kernels);
  /// The artifact's own kernels.
  static Result<StepTable> Build(const schema::Artifact& artifact, const schema::EntryPoint& entry,
                                 const TableMemory& memory, const ParallelContext& parallel) {
    return Build(artifact, entry, memory, parallel, Kernels{});
  }
  /// The same, with addresses that the tables of all entry points share: a program may have a
  /// thousand entry points over a hundred thousand buffers.
  static Result<StepTable> Build(const schema::Artifact& artifact, const schema::EntryPoint& entry,
                                 const TableMemory& memory,
                                 std::shared_ptr<const BufferAddresses> addresses,
                                 const ParallelContext& parallel) {
    return Build(artifact, entry, memory, std::move(addresses), parallel, Kernels{});
  }
  /// Cost: linear in the buffers.
  static std::shared_ptr<const BufferAddresses> Resolve(const schema::Artifact& artifact,
                                                        const TableMemory& memory);

  size_t size() const { return steps_.size(); }
  /// Runs step `i`, unless one of its guards does not hold. Allocates nothing, locks nothing.
  void Run(size_t i) const {
    if (GuardsHold(i)) RunAlways(i);
  }
  bool GuardsHold(size_t i) const;
  /// Runs step `i` whatever its guards say.
  void RunAlways(size_t i) const;
  /// Operations of one run, every step taken once (abi::OperationCount).
  double operations() const { return operations_; }
  /// Runs the program, loops included, and gives up before the trip of a loop with which the run
  /// would take more than `most` operations. Errors: kResource.
  Status RunAll(double most) const {
    return ForEachRun(most, [this](size_t i) { Run(i); });
  }
  /// Calls `run(i)` for every step in the order of execution. A loop's steps are repeated while its
  /// condition holds; steps compute the condition, so `run` has to run them. Errors: as RunAll.
  template <class F>
  Status ForEachRun(double most, F&& run) const {
    double left = most - operations_;
    return RunRange(0, steps_.size(), 0, &left, run) ? OkStatus() : EndlessLoop(most);
  }
  /// First byte of a buffer, aliases resolved.
  std::byte* AddressOf(uint32_t buffer) const { return (*addresses_)[buffer]; }
  /// Host memory beside the arena: workspaces, copies and unpacked operands that only reference
  /// kernels need.
  uint64_t scratch_bytes() const {
    uint64_t bytes = scratch_.size();
    for (const HostMemory& m : unpacked_) bytes += m.size();
    return bytes;
  }

 private:
  struct Snapshot {
    const std::byte* from;
    uint64_t offset;  ///< into the scratch memory
    uint64_t bytes;
  };
  struct ReadyGuard {
    const std::byte* at;
    bool expected;
  };
  struct Prepared {
    abi::CpuKernelFn function = nullptr;
    abi::ArgBlock args;
    uint32_t first_tensor = 0;
    uint32_t first_snapshot = 0;
    uint32_t snapshot_count = 0;
    uint32_t first_guard = 0;
    uint32_t guard_count = 0;
    uint64_t scratch_workspace = 0;  ///< bytes of workspace taken from scratch, at its start
  };

  /// Steps [first, last) run while the byte at `condition` is set.
  struct ReadyLoop {
    size_t first, last;
    const std::byte* condition;
    size_t next;        ///< the first loop after this one and those inside it
    double operations;  ///< of a trip
  };
  static Result<StepTable> Build(const schema::Artifact& artifact, const schema::EntryPoint& entry,
                                 const TableMemory& memory,
                                 std::shared_ptr<const BufferAddresses> addresses,
                                 const ParallelContext& parallel, const Kernels& kernels);

  /// Runs steps [first, last), among which the first loop is `loop` or a later one. False where the
  /// `left` operations do not suffice for the trips of loops.
  template <class F>
  bool RunRange(size_t first, size_t last, size_t loop, double* left, F&& run) const {
    for (size_t i = first; i < last;) {
      if (loop == loops_.size() || loops_[loop].first != i) {
        run(i++);
        continue;
      }
      const ReadyLoop& l = loops_[loop];
      while (*l.condition != std::byte{0}) {
        *left -= l.operations;
        if (*left < 0 || !RunRange(l.first, l.last, loop + 1, left, run)) return false;
      }
      i = l.last;
      loop = l.next;
    }
    return true;
  }

  Status AddLoops(const schema::Program& program, const schema::EntryPoint& entry);
  Status AddStep(const schema::Program& program, uint32_t index, const ParallelContext& parallel,
                 const Kernels& kernels);
  Result<std::vector<void*>> OperandsOf(const schema::Step& step, uint32_t index,
                                        const Kernels& kernels);
  Result<std::byte*> Unpack(const schema::Step& step, uint32_t input);
  void AddSnapshots(const schema::Program& program, const schema::Step& step,
                    const abi::KernelInfo& reference);
  void AddGuards(const schema::Step& step, Prepared& prepared);
  Status BindScratch();

  std::byte* arena_ = nullptr;
  bool reference_ = false;
  abi::DeviceSpec device_;
  uint64_t scratch_needed_ = 0;
  HostMemory scratch_;
  std::vector<HostMemory> unpacked_;
  std::shared_ptr<const BufferAddresses> addresses_;
  double operations_ = 0;
  std::vector<abi::TensorArg> tensors_;
  std::vector<Snapshot> snapshots_;
  std::vector<std::pair<uint32_t, uint32_t>> snapshot_tensors_;  ///< snapshot, tensor that reads it
  std::vector<ReadyGuard> guards_;
  std::vector<Prepared> steps_;
  std::vector<ReadyLoop> loops_;  ///< in the order of schema::EntryPoint::loops
};

}  // namespace aicf
