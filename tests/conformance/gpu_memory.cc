#include "tests/conformance/gpu_memory.h"

#include <algorithm>
#include <cstdlib>

namespace aicf::conformance {
namespace {

size_t Aligned(size_t bytes) { return (bytes + 255) / 256 * 256; }

}  // namespace

int SanitizedShare() {
  const char* share = std::getenv("AICF_TEST_SANITIZE");
  return share == nullptr ? 0 : std::max(1, std::atoi(share));
}

Result<std::vector<uint64_t>> GpuMemory::Place(Gpu& gpu, const Buffers& buffers, size_t workspace) {
  AICF_ASSIGN_OR_RETURN(std::vector<uint64_t> addresses,
                        SanitizedShare() > 0 ? PlaceApart(gpu, buffers, workspace)
                                             : PlaceTogether(gpu, buffers, workspace));
  for (size_t i = 0; i < buffers.size(); ++i) {
    AICF_RETURN_IF_ERROR(gpu.Upload(addresses[i], buffers[i].data(), buffers[i].size()));
  }
  return addresses;
}

Result<std::vector<uint64_t>> GpuMemory::PlaceTogether(Gpu& gpu, const Buffers& buffers,
                                                       size_t workspace) {
  size_t total = Aligned(workspace) + 256;
  for (const auto& b : buffers) total += Aligned(b.size());
  if (total > arena_bytes_) {
    arena_bytes_ = std::max<size_t>(total, 64 << 20);
    AICF_ASSIGN_OR_RETURN(arena_, gpu.Allocate(arena_bytes_));
  }
  std::vector<uint64_t> addresses;
  uint64_t at = arena_;
  for (const auto& b : buffers) {
    addresses.push_back(at);
    at += Aligned(b.size());
  }
  // As in a program, the workspace does not hold zeros but whatever an earlier step might have
  // left.
  AICF_RETURN_IF_ERROR(gpu.Fill(at, 0xff, workspace));
  addresses.push_back(at);
  return addresses;
}

Result<std::vector<uint64_t>> GpuMemory::PlaceApart(Gpu& gpu, const Buffers& buffers,
                                                    size_t workspace) {
  for (uint64_t address : apart_) AICF_RETURN_IF_ERROR(gpu.Free(address));
  apart_.clear();
  for (const auto& b : buffers) {
    AICF_ASSIGN_OR_RETURN(apart_.emplace_back(), gpu.Allocate(b.size()));
  }
  AICF_ASSIGN_OR_RETURN(apart_.emplace_back(), gpu.Allocate(workspace));
  return apart_;
}

}  // namespace aicf::conformance
