#include "runtime/cuda/staging.h"

namespace aicf::cuda {
namespace {

/// Copies run at full speed from any address; a line of its own for each tensor keeps one tensor's
/// writer off another's cache lines.
constexpr uint64_t kStagingAlignment = 256;

constexpr uint64_t RoundUp(uint64_t bytes) {
  return (bytes + kStagingAlignment - 1) / kStagingAlignment * kStagingAlignment;
}

}  // namespace

Result<Staging> Staging::Allocate(const std::shared_ptr<const Device>& device,
                                  const schema::Program& plan, const schema::EntryPoint& entry,
                                  const AddressMap& addresses) {
  Staging staging;
  staging.device_ = device;
  // The sizes are those of verified buffers in host memory already: their sum cannot wrap.
  for (uint32_t b : entry.inputs) staging.bytes_ += RoundUp(plan.buffers[b].bytes);
  for (uint32_t b : entry.outputs) staging.bytes_ += RoundUp(plan.buffers[b].bytes);
  AICF_ASSIGN_OR_RETURN(staging.memory_,
                        AllocatePinned(device, "staging inputs and outputs", staging.bytes_));
  std::byte* next = staging.memory_.get();
  const auto place = [&](uint32_t buffer) {
    const Transfer transfer = {addresses.Of(buffer), next, plan.buffers[buffer].bytes};
    next += RoundUp(transfer.bytes);
    return transfer;
  };
  for (uint32_t b : entry.inputs) staging.inputs_.push_back(place(b));
  for (uint32_t b : entry.outputs) staging.outputs_.push_back(place(b));
  return staging;
}

Status Staging::EnqueueUploads(CUstream stream) const {
  for (const Transfer& t : inputs_) {
    if (t.bytes == 0) continue;
    AICF_CUDA_CHECK(device_->driver(), "uploading an input",
                    device_->driver().MemcpyHtoDAsync(t.device, t.host, t.bytes, stream));
  }
  return OkStatus();
}

Status Staging::EnqueueDownloads(CUstream stream) const {
  for (const Transfer& t : outputs_) {
    if (t.bytes == 0) continue;
    AICF_CUDA_CHECK(device_->driver(), "downloading an output",
                    device_->driver().MemcpyDtoHAsync(t.host, t.device, t.bytes, stream));
  }
  return OkStatus();
}

}  // namespace aicf::cuda
