#include <algorithm>

#include "kernels/cuda/common/choice.h"
#include "kernels/cuda/scatter/hosts.h"

namespace aicf::cuda {
namespace {

using abi::Candidate;
using abi::DeviceSpec;
using abi::Problem;

constexpr int64_t kThreads = 128;

/// Instructions per microsecond of all lanes of the device.
double LanesPerUs(const DeviceSpec& d) { return d.sm_count * 128.0 * 1500; }

// Every share walks all updates of its line. So there are no more shares than the device has room
// for, and none so small that this walk outweighs its targets.
int64_t SharesOf(const ScatterExtents& e, int64_t room, int64_t smallest) {
  const int64_t most = std::max<int64_t>(1, CeilDiv(e.targets, smallest));
  const int64_t units = std::max<int64_t>(1, e.lines * e.Chunks());
  return std::clamp<int64_t>(room / units, 1, most);
}

abi::Parameters Cut(int64_t shares, int64_t blocks) {
  return {{"shares", shares}, {"threads", kThreads}, {"blocks", blocks}};
}

}  // namespace

template <>
std::vector<Candidate> CandidatesFor<ScatterLinesHost>(const Problem& p, const DeviceSpec& d) {
  const ScatterExtents e(p);
  const int64_t shares = SharesOf(e, int64_t{d.sm_count} * 256, 8);
  const int64_t blocks = StridedGridFor(e.lines * shares, kThreads);
  const double updates = static_cast<double>(e.updates);
  const double us = PredictUs({.bytes = abi::ByteCount(p),
                               .flops = static_cast<double>(e.lines * shares) * updates * 10,
                               .flops_per_us = LanesPerUs(d),
                               .bytes_share = 0.5,
                               .blocks = static_cast<double>(blocks),
                               .latency_us = 1.5 + 0.012 * updates,
                               .blocks_per_sm = 16},
                              d);
  return {CandidateOf<ScatterLinesHost>(p, Cut(shares, blocks), us)};
}

template <>
std::vector<Candidate> CandidatesFor<ScatterOwnersHost>(const Problem& p, const DeviceSpec& d) {
  const ScatterExtents e(p);
  const int64_t shares = SharesOf(e, int64_t{d.sm_count} * 16, e.row >= 32 ? 1 : 32);
  const int64_t warps = e.lines * shares * e.Chunks();
  const int64_t blocks = std::min(StridedGridFor(warps, kThreads / 32), kMaxGridStride / kThreads);
  const double updates = static_cast<double>(e.updates);
  const double us = PredictUs({.bytes = abi::ByteCount(p),
                               .flops = static_cast<double>(warps) * (updates * 16 + 32 * 60),
                               .flops_per_us = LanesPerUs(d),
                               .bytes_share = 0.5,
                               .blocks = static_cast<double>(blocks),
                               .latency_us = 1.5 + 0.001 * updates,
                               .blocks_per_sm = 16},
                              d);
  return {CandidateOf<ScatterOwnersHost>(p, Cut(shares, blocks), us)};
}

}  // namespace aicf::cuda
