#include <algorithm>
#include <cstdlib>

#include "kernels/cuda/common/tiles.h"
#include "kernels/cuda/gemm/gemv.h"
#include "kernels/cuda/gemm/library.h"

namespace aicf::cuda {

GemvShape GemvShapeOf(const abi::Problem& p, int sm_count) {
  const abi::View& b = p.inputs[1];
  const int n_axis = b.shape.rank() - 1, k_axis = n_axis - 1;
  const int64_t n = b.shape[n_axis], batch = ProductOf(p).batch;
  GemvShape s;
  s.along_n = std::abs(b.strides[n_axis]) <= std::abs(b.strides[k_axis]) || b.shape[k_axis] == 1;
  const int axis = s.along_n ? n_axis : k_axis;
  Space space{b.shape, {Dims{axis}, {}}};
  for (int d = 0; d < b.shape.rank(); ++d) {
    if (d != axis && b.shape[d] != 1) space.groups[1].push_back(d);
  }
  s.piece = static_cast<int>(std::min<int64_t>(RunOf(b, space), 16 / DTypeBytes(b.dtype)));
  while (s.piece > 1 && b.shape[axis] % s.piece != 0) s.piece /= 2;
  while (s.along_n && s.piece > 1 && n / (32 * s.piece) * batch < sm_count) s.piece /= 2;
  s.block_columns = s.along_n ? 32 * s.piece : s.warps;
  return s;
}

namespace {

using abi::DeviceSpec;
using abi::Family;
using abi::KernelInfo;
using abi::LaunchConfig;
using abi::Problem;

struct GemvHost : CudaHostBase {
  static constexpr std::string_view kKey = kGemvKey;
  static constexpr std::string_view kSource = "gemm/gemv.cuh";
  static constexpr int64_t kMaxRows = 8;

  static std::string Refusal(const Problem& p, const DeviceSpec&) {
    const ProductShape s = ProductOf(p);
    if (SumDType(p) != DType::kF32) return "multiplies f32, f16 and bf16 only";
    if (s.rows > kMaxRows || s.rows == 0) return StrCat("is for 1 to 8 rows, here are ", s.rows);
    if (s.columns > (int64_t{1} << 30) || s.batch > (int64_t{1} << 20))
      return "has too many columns";
    return {};
  }
  static LaunchConfig Launch(const Problem& p, const DeviceSpec& d) {
    const GemvShape shape = GemvShapeOf(p, d.sm_count);
    const ProductShape s = ProductOf(p);
    LaunchConfig launch;
    launch.grid[0] = static_cast<uint32_t>(std::clamp<int64_t>(
        std::max<int64_t>(1, CeilDiv(s.columns, shape.block_columns)) * s.batch, 1, INT32_MAX));
    launch.block[0] = 32;
    launch.block[1] = static_cast<uint32_t>(shape.warps);
    return launch;
  }
  static double CostUs(const Problem& p, const DeviceSpec& d) {
    const GemvShape shape = GemvShapeOf(p, d.sm_count);
    const double length = static_cast<double>(ProductOf(p).length);
    const double per_lane = length / (shape.along_n ? shape.warps : 32.0 * shape.piece);
    return PredictUs({.bytes = abi::ByteCount(p),
                      .flops = abi::FlopCount(p),
                      .flops_per_us = d.fp32_flops_per_us / 3,
                      .bytes_share = 0.7,
                      .blocks = static_cast<double>(Launch(p, d).grid[0]),
                      .latency_us = 1.2 + per_lane * 0.03,
                      .blocks_per_sm = 8},
                     d);
  }
};

#define AICF_TILE_HOST(id, key, source)                                 \
  struct id##Host : CudaHostBase {                                      \
    static constexpr std::string_view kKey = key;                       \
    static constexpr std::string_view kSource = source;                 \
    static std::string Refusal(const Problem& p, const DeviceSpec&) {   \
      return RefuseTile(*TileOf(kKey), p);                              \
    }                                                                   \
    static LaunchConfig Launch(const Problem& p, const DeviceSpec& d) { \
      return LaunchTile(*TileOf(kKey), p, d);                           \
    }                                                                   \
    static double CostUs(const Problem& p, const DeviceSpec& d) {       \
      return TileUs(*TileOf(kKey), p, d);                               \
    }                                                                   \
  };
#define AICF_FFMA_TILE(id, text, ...) AICF_TILE_HOST(id, "cuda.gemm.tiled_" text, "gemm/tiled.cuh")
#define AICF_TENSOR_TILE(id, text, ...) \
  AICF_TILE_HOST(id, "cuda.gemm.tensor_" text, "gemm/tensor.cuh")
#include "kernels/cuda/common/tiles.def"
#undef AICF_FFMA_TILE
#undef AICF_TENSOR_TILE

}  // namespace
}  // namespace aicf::cuda

namespace aicf::abi {

template <>
std::span<const KernelInfo> CudaKernels<Family::kGemm>() {
  static const KernelInfo rows[] = {
      cuda::LibraryRow(),
      cuda::CudaRow<cuda::GemvHost>(Family::kGemm),
#define AICF_FFMA_TILE(id, ...) cuda::CudaRow<cuda::id##Host>(Family::kGemm),
#define AICF_TENSOR_TILE(id, ...) cuda::CudaRow<cuda::id##Host>(Family::kGemm),
#include "kernels/cuda/common/tiles.def"
#undef AICF_FFMA_TILE
#undef AICF_TENSOR_TILE
  };
  return rows;
}

}  // namespace aicf::abi
