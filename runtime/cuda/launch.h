/// One step, ready to be enqueued: function or library call with every address bound.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "base/status.h"
#include "runtime/cuda/device_program.h"
#include "schema/program.h"

namespace aicf::cuda {

class Launch {
 public:
  virtual ~Launch() = default;
  /// Enqueues the step after all that is on `stream`; allocates nothing. Legal while `stream` is
  /// captured.
  virtual Status Enqueue(CUstream stream) const = 0;
  /// As Enqueue, but where the plan says that the step's launch is programmatic, the step may start
  /// before the one enqueued last has finished. REQUIRES: the step enqueued last on `stream` is the
  /// one before this on the plan's stream.
  virtual Status EnqueueInOrder(CUstream stream) const { return Enqueue(stream); }
};

/// Memory that the caller has bound, indexed by the buffer at the end of an alias chain; 0 where
/// the session's own memory is used.
using BoundAddresses = std::vector<CUdeviceptr>;

/// The address of a buffer that a lane has for itself, and the root of that buffer's alias chain.
struct LaneAddress {
  uint32_t root = 0;
  CUdeviceptr at = 0;
};
using LaneAddresses = std::vector<LaneAddress>;

/// Device addresses of one session, or of one lane of it.
class AddressMap {
 public:
  /// `bound` may be null, then nothing is bound. `roots` is schema::RootsOf(plan) and outlives the
  /// map; where it is null, every look-up follows the alias chain. `lane` may be null; where a
  /// buffer is bound, the bound memory comes before the lane's own.
  AddressMap(const schema::Program& plan, CUdeviceptr arena, CUdeviceptr weights,
             CUdeviceptr state = 0, std::shared_ptr<const BoundAddresses> bound = nullptr,
             const std::vector<uint32_t>* roots = nullptr,
             std::shared_ptr<const LaneAddresses> lane = nullptr)
      : plan_(plan),
        arena_(arena),
        weights_(weights),
        state_(state),
        bound_(std::move(bound)),
        roots_(roots),
        lane_(std::move(lane)) {}
  /// First byte of a buffer, aliases resolved (the verifier has proven that chains end).
  CUdeviceptr Of(uint32_t buffer) const;
  /// Whether the buffer lies in memory of the caller.
  bool IsBound(uint32_t buffer) const;
  CUdeviceptr Workspace(const schema::Step& step) const {
    return step.workspace_bytes > 0 ? arena_ + step.workspace_offset : 0;
  }

 private:
  uint32_t RootOf(uint32_t buffer) const {
    return roots_ != nullptr ? (*roots_)[buffer] : schema::RootOf(plan_, buffer);
  }

  const schema::Program& plan_;
  CUdeviceptr arena_;
  CUdeviceptr weights_;
  CUdeviceptr state_;
  std::shared_ptr<const BoundAddresses> bound_;
  const std::vector<uint32_t>* roots_;
  std::shared_ptr<const LaneAddresses> lane_;
};

/// Launches of the entry point's steps in order.
/// Errors: kUnsupported for a kernel key that this runtime cannot launch; those of
/// MatmulLaunch::Make.
Result<std::vector<std::unique_ptr<Launch>>> BuildLaunches(const DeviceProgram& program,
                                                           const schema::EntryPoint& entry,
                                                           const AddressMap& addresses);

}  // namespace aicf::cuda
