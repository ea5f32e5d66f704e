#include <algorithm>

#include "kernels/cuda/common/choice.h"
#include "kernels/cuda/nms/hosts.h"

namespace aicf::cuda {

using abi::Candidate;
using abi::DeviceSpec;
using abi::Problem;

template <>
std::vector<Candidate> CandidatesFor<NmsGreedyHost>(const Problem& p, const DeviceSpec& d) {
  const int64_t threads = 32 * std::clamp<int64_t>(NmsGreedyHost::Boxes(p) / 64, 1, 16);
  int64_t blocks = std::min(8, d.max_cluster);
  while (blocks > 1 && blocks > NmsGreedyHost::Pairs(p)) blocks /= 2;
  const double rounds = static_cast<double>(CeilDiv(NmsGreedyHost::Pairs(p), blocks));
  const double walk = static_cast<double>(CeilDiv(NmsGreedyHost::Boxes(p), threads)) * 0.05;
  // A fifth of the boxes that may be selected usually are.
  const double selected = static_cast<double>(NmsGreedyHost::Most(p)) * 0.2;
  const double us = PredictUs({.bytes = abi::ByteCount(p),
                               .blocks = static_cast<double>(blocks),
                               .latency_us = 2 + rounds * (2 + walk + selected * (1 + walk))},
                              d);
  return {CandidateOf<NmsGreedyHost>(p, {{"threads", threads}, {"cluster", blocks}}, us)};
}

}  // namespace aicf::cuda
