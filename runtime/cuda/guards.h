/// Guarded and repeated steps as conditional nodes of the graph: still one launch per replay.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/status.h"
#include "runtime/cuda/launch.h"
#include "runtime/cuda/step_streams.h"
#include "schema/loop_tree.h"

namespace aicf::cuda {

/// Puts an entry point's steps on a stream. While the stream is captured, each loop becomes a
/// conditional node that repeats its body, and each run of steps that share a guard the body of one
/// that runs at most once. A small kernel before the node decides on the device; in a loop, another
/// one at the end of the body decides about the next trip. Loops and guards nest; where they meet,
/// a guard is inside the loop. Without either this is a loop over the launches, each on its stream
/// of the plan, and programmatic where the plan says so.
class GuardedSteps {
 public:
  /// Creates one more stream per level of nesting, for capturing bodies.
  /// REQUIRES: the device's context is current; all arguments outlive the object.
  /// Errors: kDevice.
  static Result<GuardedSteps> Prepare(const DeviceProgram& program, const schema::EntryPoint& entry,
                                      const AddressMap& addresses,
                                      const std::vector<std::unique_ptr<Launch>>& launches);

  /// Errors: kDevice. REQUIRES: `stream` is being captured.
  Status Capture(CUstream stream) const;
  /// Without a graph: every step runs on `stream`, one after the other, guarded or not, and the
  /// host reads every loop's condition before each trip, waiting for the device. REQUIRES: `stream`
  /// is not being captured.
  Status Enqueue(CUstream stream) const { return Repeat(stream, 0, launches_->size(), 0); }
  bool empty() const { return bodies_.empty(); }

 private:
  /// Steps [first, last), the first loop among which is `loop` or a later one; those before it with
  /// `guards` conditions that hold already; `level` nodes around them.
  struct Part {
    size_t first, last, loop, guards, level;
  };
  /// What a conditional node asks, and how often it may run.
  struct Question {
    schema::Guard guard;
    int type;
  };

  GuardedSteps(const DeviceProgram& program, const schema::EntryPoint& entry,
               const AddressMap& addresses, const std::vector<std::unique_ptr<Launch>>& launches)
      : program_(&program), entry_(&entry), addresses_(addresses), launches_(&launches) {}

  Status CaptureStreams(CUstream stream) const;

  const std::vector<schema::Guard>& GuardsOf(size_t launch) const {
    return program_->plan().steps[entry_->first_step + launch].guards;
  }
  size_t Depth() const;
  size_t LoopBegin(size_t loop) const;
  size_t LoopEnd(size_t loop) const;
  size_t LoopAfter(size_t loop) const;
  size_t GuardEnd(const Part& part, size_t first) const;
  Status Range(CUstream stream, const Part& part) const;
  Status Body(CUstream stream, const Question& question, const Part& part) const;
  Status Decide(CUstream stream, CUgraphConditionalHandle handle, const schema::Guard& guard) const;
  Result<CUgraph> AddConditional(CUstream stream, const Question& question,
                                 CUgraphConditionalHandle* handle) const;
  Status Repeat(CUstream stream, size_t first, size_t last, size_t loop) const;
  Result<bool> Holds(CUstream stream, size_t loop) const;

  const DeviceProgram* program_;
  const schema::EntryPoint* entry_;
  AddressMap addresses_;
  const std::vector<std::unique_ptr<Launch>>* launches_;
  schema::LoopTree loops_;
  std::optional<StepStreams> streams_;
  std::vector<Stream> bodies_;  ///< by level
};

}  // namespace aicf::cuda
