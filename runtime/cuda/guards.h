/// Guarded steps as conditional nodes of the graph: still one launch per replay.
#pragma once

#include <memory>
#include <vector>

#include "base/status.h"
#include "runtime/cuda/launch.h"

namespace aicf::cuda {

/// Puts an entry point's steps on a stream that is being captured. Each run of steps that share a
/// guard becomes the body of a conditional node, which a small kernel before it decides on the
/// device; guards inside guards nest. Without guards this is a loop over the launches.
class GuardedSteps {
 public:
  /// Creates one more stream per level of nesting, for capturing bodies.
  /// REQUIRES: the device's context is current; all arguments outlive the object.
  /// Errors: kDevice.
  static Result<GuardedSteps> Prepare(const DeviceProgram& program, const schema::EntryPoint& entry,
                                      const AddressMap& addresses,
                                      const std::vector<std::unique_ptr<Launch>>& launches);

  /// Errors: kDevice. REQUIRES: `stream` is being captured.
  Status Capture(CUstream stream) const { return Range(stream, 0, launches_->size(), 0); }
  bool empty() const { return bodies_.empty(); }

 private:
  GuardedSteps(const DeviceProgram& program, const schema::EntryPoint& entry,
               const AddressMap& addresses, const std::vector<std::unique_ptr<Launch>>& launches)
      : program_(&program), entry_(&entry), addresses_(addresses), launches_(&launches) {}

  const std::vector<schema::Guard>& GuardsOf(size_t launch) const {
    return program_->plan().steps[entry_->first_step + launch].guards;
  }
  Status Range(CUstream stream, size_t first, size_t last, size_t depth) const;
  Status Body(CUstream stream, const schema::Guard& guard, size_t first, size_t last,
              size_t depth) const;
  Status Decide(CUstream stream, CUgraphConditionalHandle handle,
                const schema::Guard& guard) const;
  Result<CUgraph> AddConditional(CUstream stream, const schema::Guard& guard) const;

  const DeviceProgram* program_;
  const schema::EntryPoint* entry_;
  AddressMap addresses_;
  const std::vector<std::unique_ptr<Launch>>* launches_;
  std::vector<Stream> bodies_;  ///< by depth
};

}  // namespace aicf::cuda
