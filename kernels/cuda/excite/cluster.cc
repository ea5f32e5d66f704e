#include <algorithm>

#include "kernels/abi/excite.h"
#include "kernels/cuda/excite/hosts.h"

namespace aicf::cuda {
namespace {

// Floats that a part of shared memory takes, so that the next one begins at a multiple of 16 bytes.
int64_t SharedPart(int64_t floats) { return CeilDiv(floats, int64_t{4}) * 4; }

std::string RefuseExciteCut(const abi::Problem& p, const abi::Parameters& c,
                            const abi::DeviceSpec& d) {
  const ExciteCut cut(p, c);
  if (cut.lines == 0) {
    return StrCat("takes a thread for every vector of a block's channels, here are ", c["threads"],
                  " for ", cut.lanes);
  }
  if (cut.shared_bytes <= d.max_shared_bytes) return {};
  return StrCat("needs ", cut.shared_bytes, " bytes of shared memory, there are ",
                d.max_shared_bytes);
}

}  // namespace

ExciteCut::ExciteCut(const abi::Problem& p, const abi::Parameters& c) {
  const abi::ExciteShape s = abi::ExciteShapeOf(p);
  const int64_t channels = std::max<int64_t>(1, s.channels);
  lanes = CeilDiv(CeilDiv(channels, c["vector"]), c["channel_parts"]);
  lines = c["threads"] / lanes;
  slice = lanes * c["vector"];
  const int64_t parts = c["channel_parts"] * c["position_parts"];
  const int64_t share = CeilDiv(lanes, c["position_parts"]) * c["vector"], pitch = slice | 1;
  shared_bytes =
      4 * (SharedPart(lines * pitch) + SharedPart(c["position_parts"] * share) + SharedPart(share) +
           SharedPart(parts * s.hidden) + SharedPart(s.hidden) + SharedPart(slice));
}

int64_t ExciteClusterHost::WidestVectorOf(const abi::Problem& p) {
  const abi::ExciteShape s = abi::ExciteShapeOf(p);
  const abi::View& x = p.inputs[static_cast<size_t>(s.x)];
  const int64_t run =
      std::min<int64_t>(RunOf(x, SpacesOf(kKey, p).output), 16 / DTypeBytes(x.dtype));
  int64_t vector = 1;
  while (2 * vector <= run && s.channels % (2 * vector) == 0) vector *= 2;
  return vector;
}

// Refuses a problem that, however its channels are cut, has more vectors of channels than a cluster
// has threads, or more hidden units than shared memory has room for.
std::string ExciteClusterHost::Refusal(const abi::Problem& p, const abi::DeviceSpec& d) {
  const int64_t most = std::min<int64_t>(kMostParts, d.max_cluster);
  std::string refusal;
  for (int64_t parts = 1; parts <= most; parts *= 2) {
    refusal = RefuseExciteCut(p,
                              {{"channel_parts", parts},
                               {"position_parts", 1},
                               {"vector", WidestVectorOf(p)},
                               {"threads", kMaxThreads}},
                              d);
    if (refusal.empty()) return {};
  }
  return refusal;
}

std::string ExciteClusterHost::Refuse(const abi::Problem& p, const abi::Parameters& c,
                                      const abi::DeviceSpec& d) {
  std::string refusal = RefuseParts(c, "threads", 32);
  if (refusal.empty()) refusal = RefuseOddPower(c, "vector");
  if (!refusal.empty()) return refusal;
  const abi::ExciteShape s = abi::ExciteShapeOf(p);
  if (s.channels % c["vector"] != 0) {
    return StrCat(s.channels, " channels are no whole vectors of ", c["vector"]);
  }
  const int64_t parts = c["channel_parts"] * c["position_parts"];
  if (s.images > kMaxBlocks / parts) return "needs more blocks than a grid has";
  return RefuseExciteCut(p, c, d);
}

abi::LaunchConfig ExciteClusterHost::Launch(const abi::Problem& p, const abi::Parameters& c) {
  const int64_t parts = c["channel_parts"] * c["position_parts"];
  const int64_t images = std::max<int64_t>(1, abi::ExciteShapeOf(p).images);
  abi::LaunchConfig launch = Launch1d(images * parts, c["threads"]);
  launch.cluster[0] = static_cast<uint32_t>(parts);
  launch.dynamic_shared_bytes = static_cast<uint32_t>(ExciteCut(p, c).shared_bytes);
  return launch;
}

}  // namespace aicf::cuda
