#include <numeric>

#include "kernels/cuda/common/map_host.h"
#include "kernels/cuda/common/tiles.h"
#include "kernels/cuda/conv/depthwise.h"

namespace aicf::cuda {
namespace {

using abi::DeviceSpec;
using abi::Family;
using abi::LaunchConfig;
using abi::Problem;

struct DepthwiseHost : CudaHostBase {
  static constexpr std::string_view kKey = kDepthwiseKey;
  static constexpr std::string_view kSource = "conv/depthwise.cuh";

  static std::string Refusal(const Problem& p, const DeviceSpec&) { return RefuseDepthwise(p); }
  static LaunchConfig Launch(const Problem& p, const DeviceSpec& d) {
    const DepthwiseShape s = DepthwiseShapeOf(p, d.sm_count);
    const Dims& y = p.outputs[0].shape;
    const int64_t lines = abi::ElementsOf(p.outputs[0]) / (y[1] * y.back());
    const int64_t threads = y[1] / s.piece * CeilDiv(y.back(), s.pixels) * lines;
    return Launch1d(GridFor(threads, kMapThreads, kMapMaxGrid), kMapThreads);
  }
  static double CostUs(const Problem& p, const DeviceSpec& d) {
    return PredictUs({.bytes = abi::ByteCount(p),
                      .flops = abi::FlopCount(p),
                      .flops_per_us = d.fp32_flops_per_us / 5,
                      .bytes_share = 0.6,
                      .blocks = static_cast<double>(Launch(p, d).grid[0]),
                      .latency_us = 1.5,
                      .blocks_per_sm = 8},
                     d);
  }
};

struct DirectHost : CudaHostBase {
  static constexpr std::string_view kKey = "cuda.conv.direct";
  static constexpr std::string_view kSource = "conv/direct.cuh";

  static LaunchConfig Launch(const Problem& p, const DeviceSpec&) { return LaunchMap(p, 1); }
  static double CostUs(const Problem& p, const DeviceSpec& d) {
    // Two loads per product, from the cache, and a chain through the taps that nothing hides.
    const auto length = static_cast<double>(ProductOf(p).length);
    const double channels = static_cast<double>(p.inputs[0].shape[1]) /
                            static_cast<double>(p.as<abi::ConvAttrs>().group);
    return MapUs(p, d, 0.06) + 0.15 * length / std::max(1.0, channels) + 0.02 * length;
  }
};

std::string RefuseConvTile(const Tile& tile, const Problem& p) {
  const auto& a = p.as<abi::ConvAttrs>();
  for (int d = 0; a.transposed && d < a.strides.rank(); ++d) {
    if (a.strides[d] > 16) return "the stride of a transposed convolution is above 16";
    if (std::gcd(a.strides[d], a.dilations[d]) != 1) {
      return "stride and dilation of a transposed convolution have a common divisor";
    }
  }
  return RefuseTile(tile, p);
}

#define AICF_TILE_HOST(id, key, source)                                 \
  struct id##Host : CudaHostBase {                                      \
    static constexpr std::string_view kKey = key;                       \
    static constexpr std::string_view kSource = source;                 \
    static std::string Refusal(const Problem& p, const DeviceSpec&) {   \
      return RefuseConvTile(*TileOf(kKey), p);                          \
    }                                                                   \
    static LaunchConfig Launch(const Problem& p, const DeviceSpec& d) { \
      return LaunchTile(*TileOf(kKey), p, d);                           \
    }                                                                   \
    static double CostUs(const Problem& p, const DeviceSpec& d) {       \
      return TileUs(*TileOf(kKey), p, d);                               \
    }                                                                   \
  };
#define AICF_FFMA_TILE(id, text, ...) \
  AICF_TILE_HOST(id, "cuda.conv.implicit_gemm_" text, "conv/implicit_gemm.cuh")
#define AICF_TENSOR_TILE(id, text, ...) \
  AICF_TILE_HOST(id, "cuda.conv.tensor_" text, "conv/tensor.cuh")
#include "kernels/cuda/common/tiles.def"
#undef AICF_FFMA_TILE
#undef AICF_TENSOR_TILE

}  // namespace
}  // namespace aicf::cuda

namespace aicf::abi {

template <>
std::span<const KernelInfo> CudaKernels<Family::kConv>() {
  static const KernelInfo rows[] = {
      cuda::CudaRow<cuda::DepthwiseHost>(Family::kConv),
#define AICF_FFMA_TILE(id, ...) cuda::CudaRow<cuda::id##Host>(Family::kConv),
#define AICF_TENSOR_TILE(id, ...) cuda::CudaRow<cuda::id##Host>(Family::kConv),
#include "kernels/cuda/common/tiles.def"
#undef AICF_FFMA_TILE
#undef AICF_TENSOR_TILE
      cuda::CudaRow<cuda::DirectHost>(Family::kConv),
  };
  return rows;
}

}  // namespace aicf::abi
