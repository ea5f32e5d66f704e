#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "kernels/cuda/common/choice.h"
#include "kernels/cuda/normalize/costs.h"
#include "kernels/cuda/normalize/hosts.h"

namespace aicf::cuda {
namespace {

using abi::Candidate;
using abi::DeviceSpec;
using abi::Problem;

// The least part of a row that each block of a cluster should have.
constexpr int64_t kClusterLength = 1024;

// Whether neighbours along the normalised axes (group 0), or neighbouring rows (group 1), are
// neighbours in memory.
bool Contiguous(const Problem& p, size_t group) {
  const Space domain = SpacesOf("", p).domain;
  const Walk walk = WalkOf(p.inputs[0], domain.groups[group]);
  return walk.strides.empty() || std::abs(walk.strides.back()) <= 1;
}

// Elements that the rows kernel loads at a time.
int64_t WidthOf(const Problem& p, const Space& domain) {
  std::vector<const abi::View*> cores;
  for (int k = 0; k < p.core_inputs; ++k) cores.push_back(&p.inputs[static_cast<size_t>(k)]);
  const int64_t vector = VectorOf(cores, domain);
  return domain.Count(0) % vector == 0 ? vector : 1;
}

// The useful share of what neighbouring threads read, where groups consist of several runs.
double RunsShare(const Problem& p) {
  const int64_t run = RunOfGroup(p);
  return run == 0 ? 1 : SectorShare(run * DTypeBytes(p.inputs[0].dtype));
}

}  // namespace

double SectorShare(int64_t bytes) {
  constexpr int64_t kSector = 32;
  const int64_t aligned = std::min(bytes & -bytes, kSector);
  return static_cast<double>(bytes) / static_cast<double>(bytes + kSector - aligned);
}

double StretchesUs(const Problem& p, int64_t blocks, int64_t elements) {
  const int64_t bytes = DTypeBytes(p.inputs[0].dtype);
  const double of_block = static_cast<double>(abi::ElementsOf(p.inputs[0]) * bytes) /
                          static_cast<double>(std::max<int64_t>(1, blocks));
  return of_block / 40960 * 2.5 * (1 / SectorShare(elements * bytes) - 1);
}

double NormalizeUs(const Problem& p, const DeviceSpec& d, const NormalizeWork& work) {
  const auto threads = static_cast<double>(work.threads);
  const auto blocks = static_cast<double>(work.blocks);
  const double per_thread =
      static_cast<double>(abi::ElementsOf(p.inputs[0])) / std::max(1.0, threads * blocks);
  // Groups that do not fit in registers are read once per pass, from the cache at best.
  const double passes = per_thread > work.kept ? 2 : 1;
  // The blocks of a cluster run within one of the device's groups of 16 to 18 multiprocessors, and
  // up to two of each group stay idle.
  const double places = work.cluster > 2 ? blocks * 18 / 16 : blocks;
  const double fit =
      std::min(d.threads_per_sm / threads, std::floor(65536 / (threads * work.registers)));
  return PredictUs({.bytes = abi::ByteCount(p) * passes,
                    .flops = abi::FlopCount(p),
                    .flops_per_us = d.fp32_flops_per_us * work.flops_share,
                    .bytes_share = work.bytes_share,
                    .blocks = places,
                    .latency_us = 1.5 + per_thread * 0.02 + work.latency_us,
                    .blocks_per_sm = std::max(1, static_cast<int>(fit))},
                   d);
}

template <>
std::vector<Candidate> CandidatesFor<NormalizeRowsHost>(const Problem& p, const DeviceSpec& d) {
  const Space domain = SpacesOf(NormalizeRowsHost::kKey, p).domain;
  const int64_t length = domain.Count(0), rows = domain.Count(1);
  const double share = (Contiguous(p, 0) ? 0.8 : 0.2) * RunsShare(p);
  std::vector<Candidate> candidates;
  const auto add = [&](int64_t lanes, int64_t together, int64_t cluster, double factor) {
    const int64_t blocks = StridedGridFor(rows, together) * cluster;
    NormalizeWork work = {lanes * together, blocks, share};
    const int64_t run = RunOfGroup(p);
    if (run > 0) work.latency_us = StretchesUs(p, blocks, run);
    const double us = NormalizeUs(p, d, work) * factor;
    candidates.push_back(CandidateOf<NormalizeRowsHost>(
        p,
        {{"lanes", lanes}, {"rows_per_block", together}, {"blocks", blocks}, {"cluster", cluster}},
        us + (cluster > 1 ? kNormalizeClusterUs : 0)));
  };
  const auto away = [](int64_t from, int64_t ideal) {
    return std::abs(std::log2(static_cast<double>(from) / static_cast<double>(ideal)));
  };
  // One vector per lane is the fastest way through a row. If the device is at least half full
  // anyway, four vectors per lane keep more bytes in flight. Up to 32 elements stay in registers.
  const int64_t vectors = CeilDiv(length, WidthOf(p, domain));
  const bool full = 2 * rows * vectors > int64_t{d.threads_per_sm} * d.sm_count;
  const int64_t ideal =
      std::min<int64_t>(PowerOfTwoAtLeast(CeilDiv(vectors, full ? 4 : 1)), kMaxThreads);
  const int64_t most = std::clamp<int64_t>(PowerOfTwoAtLeast(length / 4), 1, kMaxThreads);
  const int64_t least = std::clamp<int64_t>(PowerOfTwoAtLeast(CeilDiv(length, 32)), 1, most);
  for (int64_t lanes = least; lanes <= most; lanes *= 2) {
    add(lanes, std::max<int64_t>(1, 128 / lanes), 1, 1 + 0.1 * away(lanes, ideal));
  }
  // A few long rows are each shared by as many multiprocessors as would otherwise be idle.
  const int64_t most_blocks = std::min<int64_t>(8, d.max_cluster);
  for (int64_t cluster = 2; cluster <= most_blocks && rows * cluster <= 2 * d.sm_count;
       cluster *= 2) {
    if (length < cluster * kClusterLength) break;
    const int64_t lanes = PowerOfTwoAtLeast(CeilDiv(length, 32 * cluster));
    add(std::clamp<int64_t>(lanes, 256, kMaxThreads), 1, cluster,
        1 + 0.02 * away(rows * cluster, d.sm_count));
  }
  return candidates;
}

template <>
std::vector<Candidate> CandidatesFor<NormalizeColumnsHost>(const Problem& p, const DeviceSpec& d) {
  const Space domain = SpacesOf(NormalizeColumnsHost::kKey, p).domain;
  const int64_t rows = domain.Count(1);
  const int64_t lanes = std::clamp<int64_t>(PowerOfTwoAtLeast(domain.Count(0) / 8), 1, 16);
  const int64_t blocks = StridedGridFor(rows, 32);
  const double used = std::min(1.0, static_cast<double>(rows) / 32);
  const double us =
      NormalizeUs(p, d, {32 * lanes, blocks, (Contiguous(p, 1) ? 0.75 : 0.15) * used});
  return {CandidateOf<NormalizeColumnsHost>(p, {{"lanes", lanes}, {"blocks", blocks}}, us)};
}

}  // namespace aicf::cuda
