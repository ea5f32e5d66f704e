#include <algorithm>

#include "kernels/cuda/categorical/hosts.h"

namespace aicf::cuda {
namespace {

// Size of SharedState in meeting.cuh, mostly two messages. A static_assert there checks that the
// launch has enough shared memory.
constexpr int64_t kCategoricalStateBytes = 4416;

}  // namespace

CategoricalCut::CategoricalCut(const abi::Problem& p, const abi::Parameters& c) {
  const abi::View& x = p.inputs[0];
  const int64_t element = DTypeBytes(x.dtype), warps = c["threads"] / 32;
  // Computed for the longest vectors. If the alignment of rows asks for shorter ones, the share
  // gets no larger.
  const int64_t vector = 16 / element;
  share = CeilDiv(x.shape[1], vector * warps * c["cluster"]) * vector * warps;
  shared_bytes = kCategoricalStateBytes + (c["cached"] != 0 ? share * element : 0);
}

std::string CategoricalSelectHost::Refuse(const abi::Problem& p, const abi::Parameters& c,
                                          const abi::DeviceSpec& d) {
  std::string refusal = RefuseParts(c, "threads", 32);
  if (!refusal.empty()) return refusal;
  if (p.inputs[0].shape[0] > kMaxBlocks / c["cluster"]) return "needs more blocks than a grid has";
  const int64_t bytes = CategoricalCut(p, c).shared_bytes;
  if (bytes <= d.max_shared_bytes) return {};
  return StrCat("needs ", bytes, " bytes of shared memory, there are ", d.max_shared_bytes);
}

abi::LaunchConfig CategoricalSelectHost::Launch(const abi::Problem& p, const abi::Parameters& c) {
  const int64_t rows = std::max<int64_t>(1, p.inputs[0].shape[0]);
  abi::LaunchConfig launch = Launch1d(rows * c["cluster"], c["threads"]);
  launch.cluster[0] = static_cast<uint32_t>(c["cluster"]);
  launch.dynamic_shared_bytes = static_cast<uint32_t>(CategoricalCut(p, c).shared_bytes);
  return launch;
}

}  // namespace aicf::cuda
