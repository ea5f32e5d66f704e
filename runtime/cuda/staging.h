/// Pinned host memory for inputs, metas and outputs, and the copies between it and the device. Only
/// one entry point is in use at a time, so the tensors of all entry points lie over each other in
/// one block, which is as large as the largest entry point needs.
#pragma once

#include <memory>
#include <vector>

#include "base/status.h"
#include "runtime/cuda/launch.h"

namespace aicf::cuda {

class Staging {
 public:
  /// Without `tensors` there is room for metas alone, not for inputs and outputs. REQUIRES: the
  /// device's context is current; `plan` outlives the object. Errors: kResource.
  static Result<Staging> Allocate(const std::shared_ptr<const Device>& device,
                                  const schema::Program& plan, bool tensors);

  std::byte* input(size_t entry, size_t index) const { return entries_[entry].inputs[index].host; }
  const std::byte* output(size_t entry, size_t index) const {
    return entries_[entry].outputs[index].host;
  }
  std::byte* meta(size_t entry, size_t index) const { return entries_[entry].metas[index].host; }
  /// Bytes of all metas of an entry point together, with the gaps between them.
  uint64_t meta_bytes(size_t entry) const;
  uint64_t bytes() const { return bytes_; }

  /// Fills an entry point's inputs and metas with zeros, on the host.
  void ClearInputs(size_t entry) const;
  /// Enqueue the copies of an entry point's inputs to the device, and of its outputs to the host.
  /// Tensors that are bound to the caller's memory are left out, and so are outputs that the steps
  /// write to this memory themselves (LaneMemory).
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
