#include <algorithm>

#include "kernels/cuda/common/choice.h"
#include "kernels/cuda/scan/hosts.h"

namespace aicf::cuda {

using abi::Candidate;
using abi::DeviceSpec;
using abi::Problem;

template <>
std::vector<Candidate> CandidatesFor<ScanBlockHost>(const Problem& p, const DeviceSpec& d) {
  constexpr int64_t kItems = ScanBlockHost::kItems;
  const int64_t length = ScanBlockHost::Length(p);
  const int64_t threads = 32 * std::clamp<int64_t>(length / (32 * kItems), 1, 16);
  const int64_t blocks = StridedGridFor(ScanBlockHost::Lines(p), 1);
  const double us =
      PredictUs({.bytes = abi::ByteCount(p),
                 .bytes_share = 0.5,
                 .blocks = static_cast<double>(blocks),
                 .latency_us = 1.0 + 1.2 * static_cast<double>(CeilDiv(length, threads * kItems)),
                 .blocks_per_sm = static_cast<int>(d.threads_per_sm / threads)},
                d);
  const int64_t room = kMaxGridStride / threads;
  return {CandidateOf<ScanBlockHost>(p, {{"threads", threads}, {"blocks", std::min(blocks, room)}},
                                     us)};
}

template <>
std::vector<Candidate> CandidatesFor<ScanLinesHost>(const Problem& p, const DeviceSpec& d) {
  constexpr int64_t kThreads = 128;
  const int64_t length = ScanLinesHost::Length(p);
  const int64_t blocks = StridedGridFor(ScanLinesHost::Lines(p), kThreads);
  // If the axis is the innermost one, neighbouring threads read elements that are far apart.
  const bool along = p.inputs[0].strides[static_cast<int>(p.as<abi::ScanAttrs>().axis)] == 1;
  const double us = PredictUs({.bytes = abi::ByteCount(p),
                               .bytes_share = along && length > 1 ? 0.1 : 0.6,
                               .blocks = static_cast<double>(blocks),
                               .latency_us = 1.0 + 0.09 * static_cast<double>(length),
                               .blocks_per_sm = 16},
                              d);
  return {CandidateOf<ScanLinesHost>(p, {{"threads", kThreads}, {"blocks", blocks}}, us)};
}

}  // namespace aicf::cuda
