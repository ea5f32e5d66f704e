/// Places the buffers of a case in the memory of the GPU.
#pragma once

#include <vector>

#include "tests/conformance/cases.h"
#include "tests/conformance/compare.h"
#include "tests/conformance/gpu.h"

namespace aicf::conformance {

/// N if this process runs under compute-sanitizer (scripts/sanitize_gpu.sh sets AICF_TEST_SANITIZE
/// to N), otherwise 0. If N > 0, only every N-th random case runs, each buffer is an allocation of
/// its own of exactly its bytes, so that an access past its end is detected, and the workspace is
/// not initialised, so that reading it before writing is detected. If 0, all buffers share one
/// allocation, which is quicker.
int SanitizedShare();

/// The buffers of one case at a time. Not thread-safe.
class GpuMemory {
 public:
  /// Copies the buffers to the GPU. Returns their addresses and then that of a workspace with
  /// arbitrary contents. They are valid until the next call or until the Gpu ends. Errors: kDevice.
  Result<std::vector<uint64_t>> Place(Gpu& gpu, const Buffers& buffers, size_t workspace);

 private:
  Result<std::vector<uint64_t>> PlaceTogether(Gpu& gpu, const Buffers& buffers, size_t workspace);
  Result<std::vector<uint64_t>> PlaceApart(Gpu& gpu, const Buffers& buffers, size_t workspace);

  uint64_t arena_ = 0;
  size_t arena_bytes_ = 0;
  std::vector<uint64_t> apart_;  ///< allocations of the previous case
};

}  // namespace aicf::conformance
