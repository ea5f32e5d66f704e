#include <algorithm>

#include "kernels/cuda/common/map_choice.h"
#include "kernels/cuda/common/tile_choice.h"
#include "kernels/cuda/conv/hosts.h"

namespace aicf::cuda {
namespace {

using abi::Candidate;
using abi::DeviceSpec;
using abi::Problem;

std::vector<Candidate> ChooseDepthwise(const Problem& p, const DeviceSpec& d) {
  const auto& a = p.as<abi::ConvAttrs>();
  const Dims& y = p.outputs[0].shape;
  const int64_t span = ConvDepthwiseHost::Span(p);
  int64_t piece = ConvDepthwiseHost::MaxPiece(p), pixels = 4;
  // The row of inputs in registers stays short, and threads stay many.
  const auto threads = [&] { return abi::ElementsOf(p.outputs[0]) / (piece * pixels); };
  while (pixels > 1 && ((pixels - 1) * a.strides.back() + span > 12 || pixels > y.back() ||
                        threads() < int64_t{512} * d.sm_count)) {
    pixels /= 2;
  }
  while (piece > 1 && threads() < int64_t{128} * d.sm_count) piece /= 2;
  const int64_t lines = abi::ElementsOf(p.outputs[0]) / (y[1] * y.back());
  const int64_t blocks =
      StridedGridFor(y[1] / piece * CeilDiv(y.back(), pixels) * lines, kMapThreads);
  const double us = PredictUs({.bytes = abi::ByteCount(p),
                               .flops = abi::FlopCount(p),
                               .flops_per_us = d.fp32_flops_per_us / 5,
                               .bytes_share = 0.6,
                               .blocks = static_cast<double>(blocks),
                               .latency_us = 1.5,
                               .blocks_per_sm = 8},
                              d);
  return {CandidateOf<ConvDepthwiseHost>(
      p, {{"piece", piece}, {"pixels", pixels}, {"threads", kMapThreads}, {"blocks", blocks}}, us)};
}

std::vector<Candidate> ChooseDirect(const Problem& p, const DeviceSpec& d) {
  // Two loads per product, from the cache, and a chain through the taps that nothing hides.
  const auto length = static_cast<double>(ProductOf(p).length);
  const double channels =
      static_cast<double>(p.inputs[0].shape[1]) / static_cast<double>(p.as<abi::ConvAttrs>().group);
  const double chain = 0.15 * length / std::max(1.0, channels) + 0.02 * length;
  return PointCandidates<ConvDirectHost>(p, MapUs(p, d, 0.06) + chain);
}

}  // namespace
}  // namespace aicf::cuda

namespace aicf::abi {

template <>
std::span<const ChoiceRow> CudaChoices<Family::kConv>() {
  static const ChoiceRow rows[] = {
      {cuda::ConvDepthwiseHost::kKey, &cuda::ChooseDepthwise},
      {cuda::ConvImplicitGemmHost::kKey, &cuda::TileCandidates<cuda::ConvImplicitGemmHost, false>},
      {cuda::ConvTensorHost::kKey, &cuda::TileCandidates<cuda::ConvTensorHost, true>},
      {cuda::ConvDirectHost::kKey, &cuda::ChooseDirect},
  };
  return rows;
}

}  // namespace aicf::abi
