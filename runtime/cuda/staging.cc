#include "runtime/cuda/staging.h"

#include <algorithm>
#include <cstring>

namespace aicf::cuda {
namespace {

/// The arena's alignment, so that metas, which lie next to each other there, have the same
/// distances here, and one copy moves them all. It also keeps the writer of one tensor off the
/// cache lines of another.
constexpr uint64_t kStagingAlignment = schema::kBufferAlignment;

constexpr uint64_t RoundUp(uint64_t bytes) {
  return (bytes + kStagingAlignment - 1) / kStagingAlignment * kStagingAlignment;
}

// The sizes are those of verified buffers in host memory already: their sum cannot wrap.
uint64_t BytesOf(const schema::Program& plan, const std::vector<uint32_t>& buffers) {
  uint64_t bytes = 0;
  for (uint32_t b : buffers) bytes += RoundUp(plan.buffers[b].bytes);
  return bytes;
}

}  // namespace

Result<Staging> Staging::Allocate(const std::shared_ptr<const Device>& device,
                                  const schema::Program& plan, bool tensors) {
  Staging staging;
  staging.device_ = device;
  for (const schema::EntryPoint& e : plan.entry_points) {
    uint64_t bytes = BytesOf(plan, e.metas);
    if (tensors) bytes += BytesOf(plan, e.inputs) + BytesOf(plan, e.outputs);
    staging.bytes_ = std::max(staging.bytes_, bytes);
  }
  AICF_ASSIGN_OR_RETURN(staging.memory_,
                        AllocatePinned(device, "staging inputs and outputs", staging.bytes_));
  for (const schema::EntryPoint& e : plan.entry_points) {
    std::byte* next = staging.memory_.get();
    const auto place = [&](const std::vector<uint32_t>& buffers, std::vector<Transfer>& list) {
      for (uint32_t b : buffers) {
        list.push_back({b, next, plan.buffers[b].bytes});
        next += RoundUp(plan.buffers[b].bytes);
      }
    };
    Entry& entry = staging.entries_.emplace_back();
    // Metas lie here as they do on the device: at multiples of the alignment, one after the other.
    place(e.metas, entry.metas);
    if (!tensors) continue;
    place(e.inputs, entry.inputs);
    place(e.outputs, entry.outputs);
  }
  return staging;
}

void Staging::ClearInputs(size_t entry) const {
  for (const std::vector<Transfer>* list : {&entries_[entry].inputs, &entries_[entry].metas}) {
    for (const Transfer& t : *list) {
      if (t.bytes > 0) std::memset(t.host, 0, t.bytes);
    }
  }
}

Status Staging::EnqueueUploads(size_t entry, const AddressMap& addresses, CUstream stream) const {
  for (const Transfer& t : entries_[entry].inputs) {
    if (t.bytes == 0 || addresses.IsBound(t.buffer)) continue;
    AICF_CUDA_CHECK(
        device_->driver(), "uploading an input",
        device_->driver().MemcpyHtoDAsync(addresses.Of(t.buffer), t.host, t.bytes, stream));
  }
  return OkStatus();
}

Status Staging::EnqueueDownloads(size_t entry, const AddressMap& addresses, CUstream stream) const {
  for (const Transfer& t : entries_[entry].outputs) {
    if (t.bytes == 0 || addresses.IsBound(t.buffer)) continue;
    if (addresses.Of(t.buffer) == reinterpret_cast<CUdeviceptr>(t.host)) continue;
    AICF_CUDA_CHECK(
        device_->driver(), "downloading an output",
        device_->driver().MemcpyDtoHAsync(t.host, addresses.Of(t.buffer), t.bytes, stream));
  }
  return OkStatus();
}

uint64_t Staging::meta_bytes(size_t entry) const {
  const std::vector<Transfer>& metas = entries_[entry].metas;
  if (metas.empty()) return 0;
  return static_cast<uint64_t>(metas.back().host - metas.front().host) + metas.back().bytes;
}

Status Staging::EnqueueMetas(size_t entry, const AddressMap& addresses, CUstream stream) const {
  const uint64_t bytes = meta_bytes(entry);
  if (bytes == 0) return OkStatus();
  const Transfer& first = entries_[entry].metas.front();
  AICF_CUDA_CHECK(
      device_->driver(), "uploading the metas",
      device_->driver().MemcpyHtoDAsync(addresses.Of(first.buffer), first.host, bytes, stream));
  return OkStatus();
}

}  // namespace aicf::cuda
