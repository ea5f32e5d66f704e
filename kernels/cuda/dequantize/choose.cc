#include "kernels/cuda/common/map_choice.h"
#include "kernels/cuda/dequantize/hosts.h"

namespace aicf::cuda {

// A thread decodes the scale of a run of results once, however the results are stored.
template <>
std::vector<abi::Candidate> CandidatesFor<DequantizeMapHost>(const abi::Problem& p,
                                                             const abi::DeviceSpec& d) {
  const int64_t vector = PreferredVector(DequantizeMapHost::kKey, p, d.sm_count);
  const bool whole = p.outputs[0].shape.back() % vector == 0;
  return VectorCandidates<DequantizeMapHost>(p, vector, whole ? vector : 1, MapUs(p, d, 0.1));
}

// A warp for each chunk of 16 rows and, mostly, 256 elements.
template <>
std::vector<abi::Candidate> CandidatesFor<DequantizePanelsHost>(const abi::Problem& p,
                                                                const abi::DeviceSpec& d) {
  constexpr int64_t kChunk = 16 * 256;
  const int64_t blocks = StridedGridFor(abi::ElementsOf(p.outputs[0]), kMapThreads / 32 * kChunk);
  const double us = PredictUs({.bytes = abi::ByteCount(p),
                               .flops = abi::FlopCount(p),
                               .flops_per_us = d.fp32_flops_per_us / 4,
                               .blocks = static_cast<double>(blocks),
                               .latency_us = 2.0,
                               .blocks_per_sm = 8},
                              d);
  return {CandidateOf<DequantizePanelsHost>(p, {{"threads", kMapThreads}, {"blocks", blocks}}, us)};
}

}  // namespace aicf::cuda
