#include <algorithm>

#include "kernels/abi/excite.h"
#include "kernels/cuda/common/choice.h"
#include "kernels/cuda/excite/hosts.h"

namespace aicf::cuda {
namespace {

using abi::Candidate;
using abi::DeviceSpec;
using abi::Problem;

// Bytes per microsecond between the L2 cache and one multiprocessor; the latency of what has to
// happen one after the other, whatever the sizes; a meeting of the blocks; each warp beyond eight
// at a block's barriers; and each value that a block sends. All are measured on an H200, for images
// in the L2 cache.
constexpr double kExciteBytesPerUs = 46e3;
constexpr double kExciteLatencyUs = 1.3, kExciteMeetingUs = 0.4;
constexpr double kExciteWarpUs = 0.025;
constexpr double kExciteSentUs = 1.0e-3;

double BytesOfView(const abi::View& v) {
  return static_cast<double>(abi::ElementsOf(v) * DTypeBytes(v.dtype));
}

// Memory moves in sectors of 32 bytes, of which a block with few channels uses a part.
double ShareOfSectors(const ExciteCut& cut, const abi::View& x) {
  return std::min(1.0, static_cast<double>(cut.slice * DTypeBytes(x.dtype)) / 32.0);
}

// What a block reads and writes: its slice of the channels at its part of the positions.
double BytesOfBlock(const Problem& p, const abi::Parameters& c, const ExciteCut& cut) {
  const abi::ExciteShape s = abi::ExciteShapeOf(p);
  const int64_t positions = CeilDiv(s.positions, c["position_parts"]);
  const auto elements = static_cast<double>(cut.slice * positions);
  const auto bytes_of = [&](const abi::View& v) {
    return elements * static_cast<double>(DTypeBytes(v.dtype));
  };
  double bytes = bytes_of(p.outputs[0]);
  for (size_t k = static_cast<size_t>(s.x); k < p.inputs.size(); ++k)
    bytes += bytes_of(p.inputs[k]);
  // What does not fit into registers is read a second time.
  const double x = bytes_of(p.inputs[static_cast<size_t>(s.x)]);
  const auto kept = static_cast<double>(c["threads"] * (c["threads"] > 512 ? 32 : 256));
  return bytes + (x > kept ? x : 0);
}

double ExciteUs(const Problem& p, const abi::Parameters& c, const DeviceSpec& d) {
  const abi::ExciteShape s = abi::ExciteShapeOf(p);
  const ExciteCut cut(p, c);
  const abi::View& x = p.inputs[static_cast<size_t>(s.x)];
  const auto images = static_cast<double>(std::max<int64_t>(1, s.images));
  const auto channel_parts = static_cast<double>(c["channel_parts"]);
  const double parts = channel_parts * static_cast<double>(c["position_parts"]);
  const double bytes = BytesOfBlock(p, c, cut);
  const double weights = (BytesOfView(p.inputs[0]) + BytesOfView(p.inputs[1])) / channel_parts;
  // A block sends each sum of its slice's channels to one block, and each part of a hidden unit to
  // all.
  const double sent = (parts > 1 ? parts * static_cast<double>(s.hidden) : 0) +
                      (c["position_parts"] > 1 ? static_cast<double>(cut.slice) : 0);
  const double meetings = (parts > 1 ? 1 : 0) + (c["position_parts"] > 1 ? 1 : 0);
  const int64_t more_warps = std::max<int64_t>(0, c["threads"] / 32 - 8);
  const double waits = kExciteLatencyUs + kExciteMeetingUs * meetings + kExciteSentUs * sent +
                       kExciteWarpUs * static_cast<double>(more_warps);
  const double moves = (bytes / ShareOfSectors(cut, x) + weights) / kExciteBytesPerUs;
  // Blocks on the same multiprocessor wait at the same time, but share the bandwidth of their loads
  // and stores.
  const auto blocks = static_cast<int64_t>(images * parts);
  const int64_t at_once = int64_t{d.sm_count} * std::max<int64_t>(1, 1024 / c["threads"]);
  const double busy = waits * static_cast<double>(CeilDiv(blocks, at_once)) +
                      moves * static_cast<double>(CeilDiv(blocks, int64_t{d.sm_count}));
  const double memory = (BytesOfView(x) + BytesOfView(p.outputs[0])) / (0.8 * d.bytes_per_us);
  return d.launch_us + std::max(memory, busy);
}

bool IsListed(const std::vector<Candidate>& all, const abi::Parameters& c) {
  return std::ranges::any_of(all, [&](const Candidate& x) { return x.variant.parameters == c; });
}

// Whether the channels are cut into equal parts, or into a power of two of parts.
bool IsEvenCut(const Problem& p, int64_t parts) {
  const int64_t vectors = abi::ExciteShapeOf(p).channels / ExciteClusterHost::WidestVectorOf(p);
  return vectors % parts == 0 || IsPowerOfTwo(static_cast<uint64_t>(parts));
}

}  // namespace

// Offers all candidates that are predicted to be nearly as fast as the fastest.
template <>
std::vector<Candidate> CandidatesFor<ExciteClusterHost>(const Problem& p, const DeviceSpec& d) {
  constexpr double kNearly = 1.5;
  std::vector<Candidate> all;
  const int64_t most = std::min<int64_t>(ExciteClusterHost::kMostParts, d.max_cluster);
  double best = 0;
  for (int64_t threads : {256, 512, 1024}) {
    for (int64_t channels = 1; channels <= most; ++channels) {
      if (!IsEvenCut(p, channels)) continue;
      for (int64_t positions : {int64_t{1}, int64_t{2}, int64_t{4}, most / channels}) {
        const abi::Parameters c = {{"channel_parts", channels},
                                   {"position_parts", positions},
                                   {"vector", ExciteClusterHost::WidestVectorOf(p)},
                                   {"threads", threads}};
        if (channels * positions > most || IsListed(all, c)) continue;
        if (!ExciteClusterHost::Refuse(p, c, d).empty()) continue;
        all.push_back(CandidateOf<ExciteClusterHost>(p, c, ExciteUs(p, c, d)));
        best = best == 0 ? all.back().cost_us : std::min(best, all.back().cost_us);
      }
    }
  }
  std::erase_if(all, [&](const Candidate& c) { return c.cost_us > kNearly * best; });
  return all;
}

}  // namespace aicf::cuda
