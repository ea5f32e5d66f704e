/// Addresses that a lane's replays have for themselves. The lane's metas have their own place on
/// the device, so that those of a queued replay are there when it begins; small outputs are written
/// to the lane's host memory directly, so that they need not be copied when the replay ends.
#pragma once

#include <memory>

#include "base/status.h"
#include "runtime/cuda/launch.h"
#include "runtime/cuda/staging.h"

namespace aicf::cuda {

class LaneMemory {
 public:
  /// An output of at most this many bytes is written to the host's memory by the step that makes
  /// it: a copy after the last step takes several times as long.
  static constexpr uint64_t kMostWritten = 1024;

  /// Allocates one block for the metas of all entry points, as large as the largest of these needs,
  /// because only one entry point is in use at a time. `roots` is schema::RootsOf(plan). `staging`
  /// is the lane's, allocated with `tensors`. REQUIRES: the device's context is current; `staging`
  /// outlives every replay that uses these addresses. Errors: kResource.
  static Result<LaneMemory> Allocate(const std::shared_ptr<const Device>& device,
                                     const schema::Program& plan,
                                     const std::vector<uint32_t>& roots, const Staging& staging);

  /// Null where the entry point has neither metas nor an output that is written to the host
  /// directly.
  const std::shared_ptr<const LaneAddresses>& addresses(size_t entry) const {
    return entries_[entry];
  }
  uint64_t bytes() const { return bytes_; }

  /// Copies the lane's metas from `staging` to the device on a stream of its own, so that this can
  /// happen beside the replay of another lane, and makes `replay_stream` wait for the copy. The
  /// copy itself waits for the event `before`, the end of this lane's last replay, which reads the
  /// old metas.
  Status Upload(const Staging& staging, size_t entry, const AddressMap& addresses,
                const Event& before, CUstream replay_stream) const;

 private:
  Status Clear() const;

  std::shared_ptr<const Device> device_;
  DeviceMemory metas_;
  uint64_t bytes_ = 0;
  Stream stream_;
  Event uploaded_;
  std::vector<std::shared_ptr<const LaneAddresses>> entries_;
};

}  // namespace aicf::cuda
