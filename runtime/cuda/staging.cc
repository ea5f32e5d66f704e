#include "runtime/cuda/staging.h"

#include <algorithm>
#include <cstring>

namespace aicf::cuda {
namespace {

/// Copies run at full speed from any address; a line of its own for each tensor keeps one tensor's
/// writer off another's cache lines.
constexpr uint64_t kStagingAlignment = 256;

constexpr uint64_t RoundUp(uint64_t bytes) {
  return (bytes + kStagingAlignment - 1) / kStagingAlignment * kStagingAlignment;
}

// The sizes are those of verified buffers in host memory already: their sum cannot wrap.
uint64_t BytesOf(const schema::Program& plan, const schema::EntryPoint& entry) {
  uint64_t bytes = 0;
  for (uint32_t b : entry.inputs) bytes += RoundUp(plan.buffers[b].bytes);
  for (uint32_t b : entry.outputs) bytes += RoundUp(plan.buffers[b].bytes);
  return bytes;
}

}  // namespace

Result<Staging> Staging::Allocate(const std::shared_ptr<const Device>& device,
                                  const schema::Program& plan, const AddressMap& addresses) {
  Staging staging;
  staging.device_ = device;
  for (const schema::EntryPoint& e : plan.entry_points) {
    staging.bytes_ = std::max(staging.bytes_, BytesOf(plan, e));
  }
  AICF_ASSIGN_OR_RETURN(staging.memory_,
                        AllocatePinned(device, "staging inputs and outputs", staging.bytes_));
  for (const schema::EntryPoint& e : plan.entry_points) {
    std::byte* next = staging.memory_.get();
    const auto place = [&](uint32_t buffer) {
      const Transfer transfer = {addresses.Of(buffer), next, plan.buffers[buffer].bytes};
      next += RoundUp(transfer.bytes);
      return transfer;
    };
    Entry& entry = staging.entries_.emplace_back();
    for (uint32_t b : e.inputs) entry.inputs.push_back(place(b));
    for (uint32_t b : e.outputs) entry.outputs.push_back(place(b));
  }
  return staging;
}

void Staging::ClearInputs(size_t entry) const {
  for (const Transfer& t : entries_[entry].inputs) {
    if (t.bytes > 0) std::memset(t.host, 0, t.bytes);
  }
}

Status Staging::EnqueueUploads(size_t entry, CUstream stream) const {
  for (const Transfer& t : entries_[entry].inputs) {
    if (t.bytes == 0) continue;
    AICF_CUDA_CHECK(device_->driver(), "uploading an input",
                    device_->driver().MemcpyHtoDAsync(t.device, t.host, t.bytes, stream));
  }
  return OkStatus();
}

Status Staging::EnqueueDownloads(size_t entry, CUstream stream) const {
  for (const Transfer& t : entries_[entry].outputs) {
    if (t.bytes == 0) continue;
    AICF_CUDA_CHECK(device_->driver(), "downloading an output",
                    device_->driver().MemcpyDtoHAsync(t.host, t.device, t.bytes, stream));
  }
  return OkStatus();
}

}  // namespace aicf::cuda
