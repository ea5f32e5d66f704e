#include <algorithm>
#include <numeric>

#include "kernels/cuda/normalize/costs.h"
#include "kernels/cuda/normalize/hosts.h"

namespace aicf::cuda {
namespace {

using abi::Candidate;
using abi::DeviceSpec;
using abi::Problem;

constexpr int64_t kMostVectors = 128;  // threads along one line

// Lines that about `threads` threads walk at a time, with `columns` threads to a line and in whole
// warps.
int64_t WholeWarps(int64_t columns, int64_t threads) {
  const int64_t unit = 32 / std::gcd<int64_t>(32, columns);
  return std::max(unit, threads / columns / unit * unit);
}

// Adds the candidates of the lines kernel for a problem and one vector width.
struct LineWalk {
  const Problem& p;
  const DeviceSpec& d;
  GroupedLines all;
  int64_t vector;
  std::vector<Candidate>& candidates;

  void AddAll(int64_t groups, int64_t cluster) const {
    const int64_t columns = groups * all.run / vector;
    int64_t last = 0;
    for (int64_t per_thread : {64, 32, 16}) {
      const int64_t share = CeilDiv(all.lines, cluster) * columns * vector / per_thread;
      const int64_t lines = WholeWarps(columns, std::clamp<int64_t>(share, 64, kMaxThreads));
      if (lines != last) Add(groups, lines, cluster);
      last = lines;
    }
  }
  void Add(int64_t groups, int64_t lines, int64_t cluster) const {
    const abi::Parameters c = {
        {"groups", groups}, {"lines", lines}, {"vector", vector}, {"cluster", cluster}};
    if (!NormalizeLinesHost::Refuse(p, c, d).empty()) return;
    const int64_t columns = groups * all.run / vector;
    const abi::LaunchConfig launch = NormalizeLinesHost::Launch(p, c);
    NormalizeWork work = {columns * lines, launch.grid[0]};
    work.bytes_share = 0.8 * SectorShare(groups * all.run * DTypeBytes(p.inputs[0].dtype));
    work.kept = std::min(64.0, 65536.0 / static_cast<double>(work.threads) - 40);
    work.cluster = cluster;
    work.flops_share = 0.6;
    // Fitted to what an H200 takes for 320 channels of 64 x 64 (bench/results/h200_unet.md):
    // registers for the kept elements and the epilogue's operands, a block's time for telling
    // groups apart, and the time in which a cluster's blocks meet.
    const double own = static_cast<double>(CeilDiv(all.lines, lines * cluster) * vector);
    work.registers = 36 + 1.75 * std::min(own, work.kept);
    work.latency_us = 0.0015 * static_cast<double>(work.threads) +
                      0.16 * static_cast<double>(std::max<int64_t>(0, vector - 4)) -
                      0.018 * std::min(own, work.kept) +
                      0.004 * static_cast<double>(std::min<int64_t>(work.blocks, d.sm_count)) +
                      StretchesUs(p, work.blocks, groups * all.run) + (own > work.kept ? 2 : 0);
    // If memory decides, more threads are better.
    const double us = NormalizeUs(p, d, work) + own * 1e-5 +
                      (cluster > 1 ? kNormalizeClusterUs : 0) +
                      (cluster > 8 ? kNormalizeClusterUs : 0);
    candidates.push_back(CandidateOf<NormalizeLinesHost>(p, c, us));
  }
};

}  // namespace

template <>
std::vector<Candidate> CandidatesFor<NormalizeLinesHost>(const Problem& p, const DeviceSpec& d) {
  std::vector<const abi::View*> cores;
  for (int k = 0; k < p.core_inputs; ++k) cores.push_back(&p.inputs[static_cast<size_t>(k)]);
  const int64_t widest = VectorOf(cores, SpacesOf(NormalizeLinesHost::kKey, p).domain);
  std::vector<Candidate> candidates;
  for (int64_t vector = widest; vector >= std::max<int64_t>(1, widest / 2); vector /= 2) {
    const LineWalk walk = {p, d, GroupedLinesOf(p), vector, candidates};
    const int64_t unit = vector / std::gcd(walk.all.run, vector);  // groups of whole vectors
    for (int64_t groups = unit; groups * walk.all.run <= kMostVectors * vector; groups *= 2) {
      for (int64_t cluster = 1; cluster <= d.max_cluster; cluster *= 2) {
        walk.AddAll(groups, cluster);
      }
    }
  }
  return candidates;
}

}  // namespace aicf::cuda
