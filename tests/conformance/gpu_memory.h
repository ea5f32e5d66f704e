/// Where the buffers of a case lie on the GPU.
#pragma once

#include <vector>

#include "tests/conformance/cases.h"
#include "tests/conformance/compare.h"
#include "tests/conformance/gpu.h"

namespace aicf::conformance {

/// Whether this process runs under compute-sanitizer (scripts/sanitize_gpu.sh sets
/// AICF_TEST_SANITIZE to N): each buffer is then an allocation of its own, of exactly its bytes, so
/// that an access past its end is seen, and a workspace holds what nobody wrote, so that reading it
/// is seen. Of the random cases every N-th runs. 0: no; buffers share one allocation, which is
/// quicker.
int SanitizedShare();

/// The buffers of one case at a time. Not thread-safe.
class GpuMemory {
 public:
  /// Copies the buffers to the GPU; addresses of these, then that of a workspace that holds
  /// something arbitrary. They hold until the next call or until the Gpu ends. Errors: kDevice.
  Result<std::vector<uint64_t>> Place(Gpu& gpu, const Buffers& buffers, size_t workspace);

 private:
  Result<std::vector<uint64_t>> PlaceTogether(Gpu& gpu, const Buffers& buffers, size_t workspace);
  Result<std::vector<uint64_t>> PlaceApart(Gpu& gpu, const Buffers& buffers, size_t workspace);

  uint64_t arena_ = 0;
  size_t arena_bytes_ = 0;
  std::vector<uint64_t> apart_;  ///< allocations of the case before
};

}  // namespace aicf::conformance
