/// What is legal for the conv kernels.
#pragma once

#include "kernels/cuda/common/map_host.h"
#include "kernels/cuda/common/tiles.h"
#include "kernels/cuda/conv/depthwise_tile.h"
#include "kernels/cuda/conv/hopper.h"

namespace aicf::cuda {

/// One input channel per output channel, channels last: a thread computes `piece` neighbouring
/// channels of `pixels` neighbouring positions of the last spatial axis.
struct ConvDepthwiseHost : CudaHostBase {
  static constexpr std::string_view kKey = "cuda.conv.depthwise";
  static constexpr std::string_view kSource = "conv/depthwise.cuh";
  static constexpr abi::ParameterRange kParameters[] = {
      {"piece", 1, 8}, {"pixels", 1, 8}, kThreadsRange, kBlocksRange};

  /// The most channels that one access may take: they have to be neighbours in memory in the input
  /// and in the output, and are at most 4, or 8 if the input's elements have 16 bits.
  static int64_t MaxPiece(const abi::Problem& p);
  /// Positions of the last axis that a window spans.
  static int64_t Span(const abi::Problem& p);
  static std::string Refusal(const abi::Problem& p, const abi::DeviceSpec& d);
  static std::string Refuse(const abi::Problem& p, const abi::Parameters& c,
                            const abi::DeviceSpec& d);
  static abi::LaunchConfig Launch(const abi::Problem&, const abi::Parameters& c) {
    return Launch1d(c["blocks"], c["threads"]);
  }
};

/// Empty, or why the kernels that compute tiles (implicit_gemm and tensor) do not take the
/// convolution.
std::string RefuseConvTiles(const abi::Problem& problem);

struct ConvImplicitGemmHost : TileHostBase<false> {
  static constexpr std::string_view kKey = "cuda.conv.implicit_gemm";
  static constexpr std::string_view kSource = "conv/implicit_gemm.cuh";

  static std::string Refusal(const abi::Problem& p, const abi::DeviceSpec&) {
    return RefuseConvTiles(p);
  }
};

struct ConvTensorHost : TileHostBase<true> {
  static constexpr std::string_view kKey = "cuda.conv.tensor";
  static constexpr std::string_view kSource = "conv/tensor.cuh";

  static std::string Refusal(const abi::Problem& p, const abi::DeviceSpec&) {
    const std::string refusal = RefuseConvTiles(p);
    return refusal.empty() ? RefuseTensorCores(p) : refusal;
  }
};

struct ConvDirectHost : PointHostBase {
  static constexpr std::string_view kKey = "cuda.conv.direct";
  static constexpr std::string_view kSource = "conv/direct.cuh";
};

/// In order of preference: ties of predicted cost go to the earlier one.
template <>
struct CudaHosts<abi::Family::kConv> {
  using List = HostList<ConvDepthwiseTileHost, ConvDepthwiseHost, ConvHopperHost,
                        ConvImplicitGemmHost, ConvTensorHost, ConvDirectHost>;
};

}  // namespace aicf::cuda
