/// Pinned host copies of inputs and outputs, and the copies between them and the arena. One entry
/// point is in use at a time: all lie over each other in one block, as large as the largest needs.
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
                                  const schema::Program& plan, const AddressMap& addresses);

  std::byte* input(size_t entry, size_t index) const { return entries_[entry].inputs[index].host; }
  const std::byte* output(size_t entry, size_t index) const {
    return entries_[entry].outputs[index].host;
  }
  uint64_t bytes() const { return bytes_; }

  /// Fills an entry point's inputs with zeros, on the host.
  void ClearInputs(size_t entry) const;
  /// Enqueue the copies of all of an entry point's inputs to the device, of all its outputs to the
  /// host.
  Status EnqueueUploads(size_t entry, CUstream stream) const;
  Status EnqueueDownloads(size_t entry, CUstream stream) const;

 private:
  struct Transfer {
    CUdeviceptr device = 0;
    std::byte* host = nullptr;
    uint64_t bytes = 0;
  };
  struct Entry {
    std::vector<Transfer> inputs, outputs;
  };
  std::shared_ptr<const Device> device_;
  PinnedMemory memory_;
  uint64_t bytes_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace aicf::cuda
