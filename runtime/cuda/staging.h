/// Pinned host copies of the program's inputs and outputs, and the copies between them and the
/// arena.
#pragma once

#include <memory>
#include <vector>

#include "base/status.h"
#include "runtime/cuda/launch.h"

namespace aicf::cuda {

class Staging {
 public:
  /// REQUIRES: the device's context is current. Errors: kResource.
  static Result<Staging> Allocate(const std::shared_ptr<const Device>& device,
                                  const schema::Program& plan, const schema::EntryPoint& entry,
                                  const AddressMap& addresses);

  std::byte* input(size_t index) const { return inputs_[index].host; }
  const std::byte* output(size_t index) const { return outputs_[index].host; }
  uint64_t bytes() const { return bytes_; }

  /// Enqueue the copies of all inputs to the device, of all outputs to the host.
  Status EnqueueUploads(CUstream stream) const;
  Status EnqueueDownloads(CUstream stream) const;

 private:
  struct Transfer {
    CUdeviceptr device = 0;
    std::byte* host = nullptr;
    uint64_t bytes = 0;
  };
  std::shared_ptr<const Device> device_;
  PinnedMemory memory_;
  uint64_t bytes_ = 0;
  std::vector<Transfer> inputs_;
  std::vector<Transfer> outputs_;
};

}  // namespace aicf::cuda
