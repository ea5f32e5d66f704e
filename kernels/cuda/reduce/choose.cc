#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "kernels/cuda/common/choice.h"
#include "kernels/cuda/reduce/hosts.h"

namespace aicf::cuda {
namespace {

using abi::Candidate;
using abi::DeviceSpec;
using abi::Problem;

int DomainVector(std::string_view key, const Problem& p) {
  std::vector<const abi::View*> cores;
  for (int k = 0; k < p.core_inputs; ++k) cores.push_back(&p.inputs[static_cast<size_t>(k)]);
  return VectorOf(cores, SpacesOf(key, p).domain);
}

// Blocks of a cluster that share an output: as many as keep the device busy and have enough work.
int64_t Pieces(int64_t groups, int64_t length, int64_t enough, const DeviceSpec& d) {
  const int64_t most = std::min(8, d.max_cluster);
  int64_t pieces = 1;
  while (pieces < most && groups * pieces * 2 <= d.sm_count && length / pieces >= 2 * enough)
    pieces *= 2;
  // Clusters of more than 8 blocks are not portable and are harder to schedule; they pay only for a
  // very long sum.
  const bool repays = groups * 16 <= d.sm_count && length >= (int64_t{1} << 24);
  if (pieces == 8 && d.max_cluster >= 16 && repays) pieces = 16;
  return pieces;
}

// `share` is the share of the memory bandwidth that is reached. Loads each of which touches a
// memory line of its own take longer, however few they are.
double ReduceUs(const Problem& p, const DeviceSpec& d, const abi::LaunchConfig& launch,
                double share) {
  const bool scattered = share < 0.5;
  const double threads = static_cast<double>(launch.block[0]) * launch.block[1];
  const double per_thread =
      static_cast<double>(abi::ElementsOf(p.inputs[0])) / std::max(1.0, threads * launch.grid[0]);
  return PredictUs({.bytes = abi::ByteCount(p),
                    .flops = abi::FlopCount(p),
                    .flops_per_us = d.fp32_flops_per_us / 8,
                    .bytes_share = share,
                    .blocks = static_cast<double>(launch.grid[0]),
                    .latency_us = scattered ? 1.7 + per_thread * 0.08 : 1.2 + per_thread * 0.02,
                    .blocks_per_sm = static_cast<int>(d.threads_per_sm / threads)},
                   d);
}

// Share of the bandwidth that loads reach: `contiguous` if neighbouring threads read neighbouring
// elements, otherwise `scattered`.
double BandwidthShare(const Problem& p, const Space& domain, double contiguous, double scattered) {
  const Walk walk = WalkOf(p.inputs[0], domain.groups[0]);
  return walk.strides.empty() || std::abs(walk.strides.back()) <= 1 ? contiguous : scattered;
}

// The time for few outputs with long sums, as in averaging the positions of an image. A warp reads
// pieces of 32 to 128 bytes of several lines, and every thread starts all its loads in one or two
// rounds.
double FewColumnsUs(const Problem& p, const DeviceSpec& d, const abi::Parameters& c,
                    int64_t length) {
  constexpr double kRoundUs = 0.4, kMeetUs = 0.6, kBytesPerUs = 60e3;  // of one multiprocessor
  const auto number = [&](std::string_view name) { return static_cast<double>(c[name]); };
  const double loads = std::ceil(static_cast<double>(length) / number("cluster") / number("lanes"));
  const double warps = number("lanes") * number("neighbours") / 32;
  const double busy = std::min(number("blocks"), static_cast<double>(d.sm_count));
  const double memory = abi::ByteCount(p) / std::min(d.bytes_per_us * 0.8, busy * kBytesPerUs);
  const double meet = 0.012 * number("vector") + 0.01 * warps + (c["cluster"] > 1 ? kMeetUs : 0);
  return d.launch_us + 0.3 + std::max(memory, std::ceil(loads / 4) * kRoundUs) + meet;
}

void AddFewColumns(const Problem& p, const DeviceSpec& d, int64_t results, int64_t length,
                   std::vector<Candidate>& candidates) {
  const int64_t vector = DomainVector(ReduceColumnsHost::kKey, p);
  const int64_t piece = vector * DTypeBytes(p.inputs[0].dtype);
  if (results % vector != 0) return;
  for (int64_t neighbours = 1; neighbours <= 16 && neighbours * piece <= 128; neighbours *= 2) {
    if (neighbours * piece < 32) continue;
    const int64_t groups = CeilDiv(results, neighbours * vector);
    for (int64_t cluster = 1; cluster <= std::min(8, d.max_cluster); cluster *= 2) {
      if (cluster > 1 && groups * cluster > 2 * d.sm_count) break;
      const int64_t own = CeilDiv(length, cluster);
      const int64_t most =
          std::min<int64_t>(ReduceColumnsHost::MostLanes(vector, neighbours), 512 / neighbours);
      const int64_t lanes =
          std::clamp<int64_t>(PowerOfTwoAtLeast(CeilDiv(own, 3)), 32 / neighbours, most);
      const abi::Parameters c = {{"lanes", lanes},
                                 {"cluster", cluster},
                                 {"blocks", groups * cluster},
                                 {"vector", vector},
                                 {"neighbours", neighbours}};
      if (!ReduceColumnsHost::Refuse(p, c, d).empty()) continue;
      candidates.push_back(CandidateOf<ReduceColumnsHost>(p, c, FewColumnsUs(p, d, c, length)));
    }
  }
}

}  // namespace

template <>
std::vector<Candidate> CandidatesFor<ReduceRowsHost>(const Problem& p, const DeviceSpec& d) {
  const Space domain = SpacesOf(ReduceRowsHost::kKey, p).domain;
  const int64_t length = domain.Count(0), results = domain.Count(1);
  const int64_t vectors = CeilDiv(length, DomainVector(ReduceRowsHost::kKey, p));
  int64_t lanes = std::min<int64_t>(PowerOfTwoAtLeast(vectors), 256);
  // If there are enough outputs for the whole device, fewer lanes per output save merging.
  while (lanes > 8 && results * lanes > int64_t{d.threads_per_sm} * d.sm_count &&
         vectors / lanes < 8)
    lanes /= 2;
  const int64_t pieces = lanes < 256 ? 1 : Pieces(results, length, 16384, d);
  if (pieces > 1) lanes = 1024;
  const int64_t together = std::max<int64_t>(1, 256 / lanes);
  const abi::Parameters parameters = {{"lanes", lanes},
                                      {"results_per_block", together},
                                      {"cluster", pieces},
                                      {"blocks", StridedGridFor(results, together) * pieces}};
  const abi::LaunchConfig launch = ReduceRowsHost::Launch(p, parameters);
  const double us = ReduceUs(p, d, launch, BandwidthShare(p, domain, 0.85, 0.2));
  return {CandidateOf<ReduceRowsHost>(p, parameters, us)};
}

template <>
std::vector<Candidate> CandidatesFor<ReduceColumnsHost>(const Problem& p, const DeviceSpec& d) {
  const Space domain = SpacesOf(ReduceColumnsHost::kKey, p).domain;
  const int64_t length = domain.Count(1), results = domain.Count(0);
  // A single output has no neighbours that could be read along with it.
  const bool alone = WalkOf(p.inputs[0], domain.groups[0]).strides.empty();
  const double share = alone ? 0.15 : BandwidthShare(p, domain, 0.8, 0.15);
  const bool few = !alone && share >= 0.5 && results > 0 && results <= 32 * int64_t{d.sm_count};
  std::vector<Candidate> candidates;
  const auto add = [&](int64_t vector, int64_t most_lanes, double factor) {
    const int64_t groups = CeilDiv(std::max<int64_t>(results, 1), 32 * vector);
    const int64_t pieces = Pieces(groups, length, 512, d);
    const abi::Parameters parameters = {
        {"lanes", std::clamp<int64_t>(PowerOfTwoAtLeast(length / 8), 1, most_lanes)},
        {"cluster", pieces},
        {"blocks", StridedGridFor(results, 32 * vector) * pieces},
        {"vector", vector},
        {"neighbours", 32}};
    const abi::LaunchConfig launch = ReduceColumnsHost::Launch(p, parameters);
    const double used = std::min(1.0, static_cast<double>(results) / (32.0 * vector));
    const double us = few ? FewColumnsUs(p, d, parameters, length)
                          : ReduceUs(p, d, launch, share * used) * factor;
    candidates.push_back(CandidateOf<ReduceColumnsHost>(p, parameters, us));
  };
  // Wider vectors mean fewer blocks, so they pay only if there are enough blocks. Four results per
  // thread suffice: with more, threads wait for each other longer than for memory.
  const int64_t widest = alone ? 1 : DomainVector(ReduceColumnsHost::kKey, p);
  const int64_t ideal = 3 * (results / (32 * 4)) >= d.sm_count ? 4 : 1;
  for (int64_t vector = 1; vector <= widest && results % vector == 0; vector *= 2) {
    const double away = std::abs(std::log2(static_cast<double>(vector) / ideal));
    add(vector, vector < 8 ? 16 : 8, 1 + 0.1 * away);
  }
  if (length >= 512 && results <= 32 * int64_t{d.sm_count}) add(1, 32, 0.95);
  if (few) AddFewColumns(p, d, results, length, candidates);
  return candidates;
}

}  // namespace aicf::cuda
