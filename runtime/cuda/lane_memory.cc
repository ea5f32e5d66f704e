#include "runtime/cuda/lane_memory.h"

#include <algorithm>

namespace aicf::cuda {
namespace {

// Whether exactly one step of the entry point writes the buffer, and its kernel is one of aicf's
// own, which stores each element once, and does not read the buffer. A kernel that adds up sums in
// its output must not do so in the host's memory.
bool IsStoredOnce(const schema::Program& plan, const schema::EntryPoint& e,
                  const std::vector<uint32_t>& roots, uint32_t root) {
  const auto has = [&](const std::vector<uint32_t>& buffers) {
    return std::ranges::any_of(buffers, [&](uint32_t b) { return roots[b] == root; });
  };
  int writers = 0;
  for (uint32_t s = e.first_step; s < e.first_step + e.step_count; ++s) {
    const schema::Step& step = plan.steps[s];
    if (!has(step.outputs)) continue;
    if (has(step.inputs) || !step.kernel.starts_with("cuda.")) return false;
    ++writers;
  }
  return writers == 1 && !has(e.inputs) && !has(e.metas);
}

bool IsWrittenToHost(const schema::Program& plan, const schema::EntryPoint& e,
                     const std::vector<uint32_t>& roots, uint32_t output) {
  const schema::Buffer& root = plan.buffers[roots[output]];
  return plan.buffers[output].bytes <= LaneMemory::kMostWritten &&
         root.bytes == plan.buffers[output].bytes && root.storage == schema::Storage::kArena &&
         IsStoredOnce(plan, e, roots, roots[output]);
}

}  // namespace

Result<LaneMemory> LaneMemory::Allocate(const std::shared_ptr<const Device>& device,
                                        const schema::Program& plan,
                                        const std::vector<uint32_t>& roots,
                                        const Staging& staging) {
  LaneMemory memory;
  memory.device_ = device;
  const size_t entries = plan.entry_points.size();
  for (size_t e = 0; e < entries; ++e) {
    memory.bytes_ = std::max(memory.bytes_, staging.meta_bytes(e));
  }
  AICF_ASSIGN_OR_RETURN(memory.metas_,
                        AllocateDevice(device, "allocating a lane's metas", memory.bytes_));
  AICF_ASSIGN_OR_RETURN(memory.stream_, CreateStream(device));
  AICF_ASSIGN_OR_RETURN(memory.uploaded_, CreateEvent(device, kEventDisableTiming));
  AICF_RETURN_IF_ERROR(memory.Clear());
  for (size_t e = 0; e < entries; ++e) {
    const schema::EntryPoint& entry = plan.entry_points[e];
    LaneAddresses own;
    // Each meta has the same offset in the block as in the staging memory, so that one copy moves
    // all of them.
    for (size_t m = 0; m < entry.metas.size(); ++m) {
      const auto at = static_cast<uint64_t>(staging.meta(e, m) - staging.meta(e, 0));
      own.push_back({roots[entry.metas[m]], memory.metas_.get() + at});
    }
    for (size_t o = 0; o < entry.outputs.size(); ++o) {
      const uint32_t output = entry.outputs[o];
      if (!IsWrittenToHost(plan, entry, roots, output)) continue;
      own.push_back({roots[output], reinterpret_cast<CUdeviceptr>(staging.output(e, o))});
    }
    auto& made = memory.entries_.emplace_back();
    if (!own.empty()) made = std::make_shared<const LaneAddresses>(std::move(own));
  }
  return memory;
}

// The first run of the steps, before which nobody has set metas, then finds zeros, as it does in
// the arena.
Status LaneMemory::Clear() const {
  if (bytes_ == 0) return OkStatus();
  const Driver& driver = device_->driver();
  AICF_CUDA_CHECK(
      driver, "clearing a lane's metas",
      driver.MemsetD8Async(metas_.get(), static_cast<unsigned char>(0), bytes_, stream_.get()));
  return driver.Check(driver.StreamSynchronize(stream_.get()), "clearing a lane's metas");
}

Status LaneMemory::Upload(const Staging& staging, size_t entry, const AddressMap& addresses,
                          const Event& before, CUstream replay_stream) const {
  if (staging.meta_bytes(entry) == 0) return OkStatus();
  const Driver& driver = device_->driver();
  AICF_CUDA_CHECK(driver, "waiting for the lane",
                  driver.StreamWaitEvent(stream_.get(), before.get(), 0u));
  AICF_RETURN_IF_ERROR(staging.EnqueueMetas(entry, addresses, stream_.get()));
  AICF_CUDA_CHECK(driver, "recording the upload of metas",
                  driver.EventRecord(uploaded_.get(), stream_.get()));
  return driver.Check(driver.StreamWaitEvent(replay_stream, uploaded_.get(), 0u),
                      "waiting for the metas");
}

}  // namespace aicf::cuda
