#include <algorithm>
#include <iterator>

#include "kernels/cuda/common/map_choice.h"
#include "kernels/cuda/elementwise/hosts.h"

namespace aicf::cuda {

using abi::Candidate;
using abi::DeviceSpec;
using abi::Problem;

template <>
std::vector<Candidate> CandidatesFor<ElementwiseMapHost>(const Problem& p, const DeviceSpec& d) {
  const int64_t widest = WidestVector(ElementwiseMapHost::kKey, p);
  const int64_t preferred = PreferredVector(ElementwiseMapHost::kKey, p, d.sm_count);
  std::vector<Candidate> candidates;
  for (int64_t vector = preferred; vector <= widest; vector *= 2) {
    const int64_t blocks = StridedGridFor(abi::ElementsOf(p.outputs[0]), kMapThreads * vector);
    const double us = PredictUs({.bytes = abi::ByteCount(p),
                                 .flops = abi::FlopCount(p),
                                 .flops_per_us = d.fp32_flops_per_us / 4,
                                 .blocks = static_cast<double>(blocks),
                                 .latency_us = 0.8,
                                 .blocks_per_sm = 16},
                                d);
    std::vector<Candidate> of = VectorCandidates<ElementwiseMapHost>(p, vector, vector, us);
    std::ranges::move(of, std::back_inserter(candidates));
  }
  return candidates;
}

}  // namespace aicf::cuda
