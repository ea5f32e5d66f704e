#include <algorithm>

#include "kernels/cuda/common/map_choice.h"
#include "kernels/cuda/common/tile_choice.h"
#include "kernels/cuda/conv/hosts.h"

namespace aicf::cuda {

using abi::Candidate;
using abi::DeviceSpec;
using abi::Problem;

template <>
std::vector<Candidate> CandidatesFor<ConvDepthwiseHost>(const Problem& p, const DeviceSpec& d) {
  const auto& a = p.as<abi::ConvAttrs>();
  const Dims& y = p.outputs[0].shape;
  const int64_t span = ConvDepthwiseHost::Span(p);
  int64_t piece = ConvDepthwiseHost::MaxPiece(p), pixels = 4;
  // A thread gets fewer pixels until the row of inputs in its registers is short and there are
  // many threads.
  const int64_t longest = piece > 4 ? 8 : 12;
  const auto threads = [&] { return abi::ElementsOf(p.outputs[0]) / (piece * pixels); };
  while (pixels > 1 && ((pixels - 1) * a.strides.back() + span > longest || pixels > y.back() ||
                        threads() < int64_t{512} * d.sm_count)) {
    pixels /= 2;
  }
  while (piece > 1 && threads() < int64_t{128} * d.sm_count) piece /= 2;
  const int64_t lines = abi::ElementsOf(p.outputs[0]) / (y[1] * y.back());
  const int64_t blocks =
      StridedGridFor(y[1] / piece * CeilDiv(y.back(), pixels) * lines, kMapThreads);
  // A thread adds rows of taps one after the other, and waits for the inputs of each.
  const auto rows = static_cast<double>(abi::ElementsOf(p.inputs[1]) /
                                        (p.inputs[1].shape[0] * p.inputs[1].shape.back()));
  const double us = PredictUs({.bytes = abi::ByteCount(p),
                               .flops = abi::FlopCount(p),
                               .flops_per_us = d.fp32_flops_per_us / 5,
                               .bytes_share = 0.6,
                               .blocks = static_cast<double>(blocks),
                               .latency_us = 0.9 + 0.35 * rows,
                               .blocks_per_sm = 8},
                              d);
  return {CandidateOf<ConvDepthwiseHost>(
      p, {{"piece", piece}, {"pixels", pixels}, {"threads", kMapThreads}, {"blocks", blocks}}, us)};
}

template <>
std::vector<Candidate> CandidatesFor<ConvDirectHost>(const Problem& p, const DeviceSpec& d) {
  // Every product needs two loads from the cache, and the additions form a chain through the taps
  // whose latency nothing hides.
  const auto length = static_cast<double>(ProductOf(p).length);
  const double channels =
      static_cast<double>(p.inputs[0].shape[1]) / static_cast<double>(p.as<abi::ConvAttrs>().group);
  const double chain = 0.15 * length / std::max(1.0, channels) + 0.02 * length;
  return PointCandidates<ConvDirectHost>(p, MapUs(p, d, 0.06) + chain);
}

template <>
std::vector<abi::Candidate> CandidatesFor<ConvImplicitGemmHost>(const abi::Problem& p,
                                                                const abi::DeviceSpec& d) {
  return TileCandidates<ConvImplicitGemmHost, false>(p, d);
}

template <>
std::vector<abi::Candidate> CandidatesFor<ConvTensorHost>(const abi::Problem& p,
                                                          const abi::DeviceSpec& d) {
  return TileCandidates<ConvTensorHost, true>(p, d);
}

}  // namespace aicf::cuda
