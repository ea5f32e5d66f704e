/// What a lane has for itself on the device, so that a replay that is queued behind another one
/// finds its metas there when it begins, and nothing has to be copied to the host when it ends.
#pragma once

#include <memory>

#include "base/status.h"
#include "runtime/cuda/launch.h"
#include "runtime/cuda/staging.h"

namespace aicf::cuda {

class LaneMemory {
 public:
  /// Outputs of at most so many bytes are written to the host's memory by the step that makes them:
  /// a copy after the last step takes several times as long.
  static constexpr uint64_t kMostWritten = 1024;

  /// Metas of all entry points in one block, as large as the largest needs: one is in use at a
  /// time. `roots` is schema::RootsOf(plan). `staging` is the lane's and has its tensors. REQUIRES:
  /// the device's context is current; `staging` outlives what runs. Errors: kResource.
  static Result<LaneMemory> Allocate(const std::shared_ptr<const Device>& device,
                                     const schema::Program& plan,
                                     const std::vector<uint32_t>& roots, const Staging& staging);

  /// Null where the entry point has nothing here.
  const std::shared_ptr<const LaneAddresses>& addresses(size_t entry) const {
    return entries_[entry];
  }
  uint64_t bytes() const { return bytes_; }

  /// Copies the lane's metas to it on a stream of its own, beside the replay of another lane, and
  /// makes `replay_stream` wait for that. The copy waits for `before`, the end of the lane's last
  /// replay, which reads them.
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
