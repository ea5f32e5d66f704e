#include <algorithm>
#include <numeric>

#include "kernels/cuda/normalize/costs.h"
#include "kernels/cuda/normalize/hosts.h"

namespace aicf::cuda {
namespace {

using abi::Candidate;
using abi::DeviceSpec;
using abi::Problem;

constexpr int64_t kMostColumns = 128;  // threads along one line
constexpr int64_t kElementsPerThread = 16;

/// The runs of the problem's groups, and how threads walk them.
struct InterleavedRuns {
  int64_t groups, length, run, vector, lanes;

  explicit InterleavedRuns(const Problem& p) : run(RunOfGroup(p)) {
    const Space domain = SpacesOf(NormalizeInterleavedHost::kKey, p).domain;
    groups = domain.Count(1);
    length = domain.Count(0);
    std::vector<const abi::View*> cores;
    for (int k = 0; k < p.core_inputs; ++k) cores.push_back(&p.inputs[static_cast<size_t>(k)]);
    vector = VectorOf(cores, domain);
    while (run % vector != 0) vector /= 2;
    lanes = run / vector;
    // A block has whole warps and `lanes` threads per run. If that takes more threads than a block
    // may have, fewer lanes walk a run, a power of two, and lines are walked out of step.
    if (std::lcm<int64_t>(32, lanes) > kMaxThreads) lanes = PowerOfTwoAtLeast(lanes) / 2;
  }
};

// Lines at a time: as many as give each thread a few elements, in whole warps.
int64_t LinesAtATime(const InterleavedRuns& r, int64_t together, int64_t cluster) {
  const int64_t columns = together * r.lanes;
  const int64_t unit = 32 / std::gcd<int64_t>(32, columns);
  const int64_t share = together * r.length / cluster / kElementsPerThread;
  const int64_t threads = std::clamp<int64_t>(share, 128, 960);
  const int64_t lines = threads / columns / unit * unit;
  return std::max({lines, unit, CeilDiv(CeilDiv(int64_t{32}, r.lanes), unit) * unit});
}

}  // namespace

template <>
std::vector<Candidate> CandidatesFor<NormalizeInterleavedHost>(const Problem& p,
                                                               const DeviceSpec& d) {
  const InterleavedRuns r(p);
  std::vector<Candidate> candidates;
  for (int64_t together = 1; together <= r.groups && together * r.lanes <= kMostColumns;
       together *= 2) {
    for (int64_t cluster = 1; cluster <= std::min(8, d.max_cluster); cluster *= 2) {
      const int64_t lines = LinesAtATime(r, together, cluster);
      const int64_t threads = together * r.lanes * lines;
      if (threads > kMaxThreads || (cluster > 1 && lines * r.run * cluster > r.length)) continue;
      const int64_t blocks = StridedGridFor(r.groups, together) * cluster;
      NormalizeWork work = {threads, blocks};
      work.bytes_share = 0.8 * SectorShare(together * r.run * DTypeBytes(p.inputs[0].dtype));
      work.kept = std::min(64.0, 65536.0 / static_cast<double>(threads) - 40);
      // As measured for NormalizeLinesHost's candidates.
      work.cluster = cluster;
      const double own = static_cast<double>(CeilDiv(together * r.length, threads * cluster));
      work.registers = 40 + 3.5 * std::min(own, 16.0);
      work.latency_us = 0.8 + StretchesUs(p, blocks, together * r.run);
      const double us = NormalizeUs(p, d, work) + (cluster > 1 ? kNormalizeClusterUs : 0);
      candidates.push_back(CandidateOf<NormalizeInterleavedHost>(p,
                                                                 {{"groups", together},
                                                                  {"lanes", r.lanes},
                                                                  {"lines", lines},
                                                                  {"vector", r.vector},
                                                                  {"blocks", blocks},
                                                                  {"cluster", cluster}},
                                                                 us));
    }
  }
  return candidates;
}

}  // namespace aicf::cuda
