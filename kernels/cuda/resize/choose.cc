#include <algorithm>

#include "kernels/cuda/common/map_choice.h"
#include "kernels/cuda/resize/hosts.h"

namespace aicf::cuda {
namespace {

using abi::Candidate;
using abi::DeviceSpec;
using abi::Problem;

// Whether a thread computes a whole vector of results, which it does only along an axis that keeps
// its length.
bool AlongKept(const Problem& p, int64_t vector) {
  const Dims inner = SpacesOf(ResizeTapsHost::kKey, p).output.groups[0];
  if (inner.empty()) return false;
  const int axis = static_cast<int>(inner.back());
  return p.inputs[0].shape[axis] == p.outputs[0].shape[axis] &&
         p.as<abi::ResizeAttrs>().scales[static_cast<size_t>(axis)] == 1.0 &&
         p.inputs[0].strides[axis] == 1 && p.outputs[0].shape[axis] % vector == 0;
}

}  // namespace

template <>
std::vector<Candidate> CandidatesFor<ResizeTapsHost>(const Problem& p, const DeviceSpec& d) {
  constexpr double kFlopsShare = 0.05;
  const int64_t widest = WidestVector(ResizeTapsHost::kKey, p);
  const int64_t preferred = PreferredVector(ResizeTapsHost::kKey, p, d.sm_count);
  std::vector<Candidate> candidates;
  for (int64_t vector = widest; vector >= 1; vector /= 2) {
    if (vector > 1 && !AlongKept(p, vector)) continue;
    const int64_t blocks = StridedGridFor(abi::ElementsOf(p.outputs[0]), kMapThreads * vector);
    const double us = PredictUs({.bytes = abi::ByteCount(p),
                                 .flops = abi::FlopCount(p) / static_cast<double>(vector),
                                 .flops_per_us = d.fp32_flops_per_us * kFlopsShare,
                                 .bytes_share = 0.6,
                                 .blocks = static_cast<double>(blocks),
                                 .latency_us = 1.0,
                                 .blocks_per_sm = 16},
                                d);
    candidates.push_back(CandidateOf<ResizeTapsHost>(
        p, {{"threads", kMapThreads}, {"blocks", blocks}, {"vector", vector}},
        vector > preferred ? us * 1.05 : us));
  }
  return candidates;
}

}  // namespace aicf::cuda
