/// Candidates of the kernels of map_host.h.
#pragma once

#include <algorithm>

#include "kernels/cuda/common/choice.h"
#include "kernels/cuda/common/map_host.h"

namespace aicf::cuda {

inline constexpr int64_t kMapThreads = 128;

/// `flops_share`: part of the machine's peak that the kernel's inner loop reaches.
inline double MapUs(const abi::Problem& p, const abi::DeviceSpec& d, double flops_share) {
  const int64_t blocks = StridedGridFor(abi::ElementsOf(p.outputs[0]), kMapThreads);
  return PredictUs({.bytes = abi::ByteCount(p),
                    .flops = abi::FlopCount(p),
                    .flops_per_us = d.fp32_flops_per_us * flops_share,
                    .bytes_share = 0.6,
                    .blocks = static_cast<double>(blocks),
                    .latency_us = 1.0,
                    .blocks_per_sm = 16},
                   d);
}

/// One result per thread.
template <class Host>
std::vector<abi::Candidate> PointCandidates(const abi::Problem& p, double cost_us) {
  const int64_t blocks = StridedGridFor(abi::ElementsOf(p.outputs[0]), kMapThreads);
  return {CandidateOf<Host>(p, {{"threads", kMapThreads}, {"blocks", blocks}}, cost_us)};
}

/// The same for a host with a kFlopsShare: the cost is MapUs with that share.
template <class Host>
std::vector<abi::Candidate> PointChoice(const abi::Problem& p, const abi::DeviceSpec& d) {
  return PointCandidates<Host>(p, MapUs(p, d, Host::kFlopsShare));
}

/// `vector` results per thread. The kernel computes `taken` of them in one piece, either all or a
/// single one, and the grid has a thread for every piece. Threads that are left without work cost
/// nothing that shows.
template <class Host>
std::vector<abi::Candidate> VectorCandidates(const abi::Problem& p, int64_t vector, int64_t taken,
                                             double cost_us) {
  const int64_t blocks = StridedGridFor(abi::ElementsOf(p.outputs[0]), kMapThreads * taken);
  const int64_t room = kMaxGridStride / (kMapThreads * vector);
  return {CandidateOf<Host>(
      p, {{"vector", vector}, {"threads", kMapThreads}, {"blocks", std::min(blocks, room)}},
      cost_us)};
}

template <class Host>
abi::ChoiceRow ChoiceRowOf() {
  if constexpr (requires { Host::kFlopsShare; }) {
    return {Host::kKey, &PointChoice<Host>};
  } else {
    return {Host::kKey, &CandidatesFor<Host>};
  }
}

template <class... Hosts>
std::array<abi::ChoiceRow, sizeof...(Hosts)> ChoiceRowsOf(HostList<Hosts...>) {
  return {ChoiceRowOf<Hosts>()...};
}

}  // namespace aicf::cuda
