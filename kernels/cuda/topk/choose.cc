#include <algorithm>

#include "kernels/cuda/common/choice.h"
#include "kernels/cuda/topk/hosts.h"

namespace aicf::cuda {

using abi::Candidate;
using abi::DeviceSpec;
using abi::Problem;

template <>
std::vector<Candidate> CandidatesFor<TopKSelectHost>(const Problem& p, const DeviceSpec& d) {
  const Space domain = SpacesOf(TopKSelectHost::kKey, p).domain;
  const int64_t warps = std::clamp<int64_t>(domain.Count(0) / 128, 1, 16);
  const int64_t blocks = GridFor(domain.Count(1), 1, kMaxGridStride);
  const double us =
      PredictUs({.bytes = abi::ByteCount(p),
                 .blocks = static_cast<double>(blocks),
                 .latency_us = 1 + 0.2 * static_cast<double>(p.as<abi::TopKAttrs>().k)},
                d);
  return {CandidateOf<TopKSelectHost>(p, {{"threads", warps * 32}, {"blocks", blocks}}, us)};
}

}  // namespace aicf::cuda
