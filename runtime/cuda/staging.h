/// Pinned host copies of inputs, metas and outputs, and the copies between them and the device. One
/// entry point is in use at a time: all lie over each other in one block, as large as the largest needs.
#pragma once

#include <memory>
#include <vector>

#include "base/status.h"
#include "runtime/cuda/launch.h"

namespace aicf::cuda {

class Staging {
 public:
  /// Without `tensors`, for metas alone. REQUIRES: the device's context is current; `plan` outlives
  /// the object. Errors: kResource.
  static Result<Staging> Allocate(const std::shared_ptr<const Device>& device,
                                  const schema::Program& plan, bool tensors);

  std::byte* input(size_t entry, size_t index) const { return entries_[entry].inputs[index].host; }
  const std::byte* output(size_t entry, size_t index) const {
    return entries_[entry].outputs[index].host;
  }
  std::byte* meta(size_t entry, size_t index) const { return entries_[entry].metas[index].host; }
  /// Of all metas of an entry point, with what lies between them.
  uint64_t meta_bytes(size_t entry) const;
  uint64_t bytes() const { return bytes_; }

  /// Fills an entry point's inputs and metas with zeros, on the host.
  void ClearInputs(size_t entry) const;
  /// Enqueue the copies of all of an entry point's inputs to the device, of all its outputs to the
  /// host; without those that lie in memory of the caller, or here already.
  Status EnqueueUploads(size_t entry, const AddressMap& addresses, CUstream stream) const;
  Status EnqueueDownloads(size_t entry, const AddressMap& addresses, CUstream stream) const;
  /// Enqueues one copy of all of the entry point's metas, which lie next to each other.
  Status EnqueueMetas(size_t entry, const AddressMap& addresses, CUstream stream) const;

 private:
  struct Transfer {
    uint32_t buffer = 0;
    std::byte* host = nullptr;
    uint64_t bytes = 0;
  };
  struct Entry {
    std::vector<Transfer> inputs, metas, outputs;
  };
  std::shared_ptr<const Device> device_;
  PinnedMemory memory_;
  uint64_t bytes_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace aicf::cuda
