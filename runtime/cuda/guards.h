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
/// conditional node that repeats its body, and each run of consecutive steps that share a guard
/// becomes the body of a conditional node that runs at most once. A small kernel before the node
/// decides on the device whether the body runs; in a loop, another one at the end of the body
/// decides about the next trip. Loops and guards nest; a guard of a loop's step is inside the loop.
/// Without guards and loops this is a mere loop over the launches, each on its stream of the plan,
/// and programmatic where the plan says so.
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
  /// Without a graph: every step runs on `stream`, one after the other. Guards are ignored, so that
  /// guarded steps always run. The host reads every loop's condition before each trip, for which it
  /// waits for the device. REQUIRES: `stream` is not being captured.
  Status Enqueue(CUstream stream) const { return Repeat(stream, 0, launches_->size(), 0); }

 private:
  /// The launches [first, last) that one body, or the whole entry point, consists of. The first
  /// loop that begins among them is `loop` or a later one. `level` conditional nodes are around
  /// them, which have tested the first `guards` guards of those that are outside any loop among
  /// them.
  struct Part {
    size_t first, last, loop, guards, level;
  };
  /// The condition that a conditional node tests, and whether its body runs at most once
  /// (kConditionalIf) or repeatedly (kConditionalWhile).
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
  std::vector<Stream> bodies_;  ///< for capturing bodies, by level of nesting
};

}  // namespace aicf::cuda
