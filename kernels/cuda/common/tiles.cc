#include "kernels/cuda/common/tiles.h"

#include <algorithm>
#include <cmath>

namespace aicf::cuda {
namespace {

using abi::Family;
using abi::MathMode;
using abi::Problem;

constexpr Tile kTiles[] = {
#define AICF_FFMA_TILE(id, text, m, n, k, pm, pn, split, stages) \
  {text, false, m, n, k, pm, pn, split, stages},
#define AICF_TENSOR_TILE(id, text, m, n, k, pm, pn, split, stages) \
  {text, true, m, n, k, pm, pn, split, stages},
#include "kernels/cuda/common/tiles.def"
#undef AICF_FFMA_TILE
#undef AICF_TENSOR_TILE
};

bool SixteenBit(const Tile& tile, const Problem& p) {
  return tile.tensor && p.math != MathMode::kTf32;
}

// The layout of shared memory in common/tile.cuh, which asserts that this is enough.
int64_t SharedBytes(const Tile& t, const Problem& p) {
  const int64_t sum_bytes = t.tensor ? 4 : std::max<int64_t>(4, DTypeBytes(SumDType(p)));
  const int64_t bytes = SixteenBit(t, p) ? 2 : t.tensor ? 4 : sum_bytes;
  const int64_t pad_a = SixteenBit(t, p) ? 8 : 4, pad_b = 8;
  const int64_t stage = (t.m * (t.k + pad_a) + t.k * (t.n + pad_b)) * bytes;
  const int64_t inner = RowsInner(p) ? t.m : t.n, outer = RowsInner(p) ? t.n : t.m;
  return std::max(t.stages * stage, t.split * outer * (inner + 4) * sum_bytes);
}

int64_t TileCount(const Tile& t, const ProductShape& s) {
  return std::max<int64_t>(1, CeilDiv(s.rows, t.m)) *
         std::max<int64_t>(1, CeilDiv(s.columns, t.n)) * s.batch;
}

constexpr int64_t kMaxTiles = (int64_t{1} << 31) - 1;

int64_t Steps(const Tile& t, const ProductShape& s) {
  return CeilDiv(std::max<int64_t>(s.length, 1), t.k);
}

// Blocks of a cluster that share out k, where the tiles alone would leave multiprocessors idle.
int64_t Parts(const Tile& t, const ProductShape& s, int sm_count) {
  int64_t parts = 1;
  while (parts < 8 && TileCount(t, s) * parts * 2 <= sm_count && Steps(t, s) >= parts * 2 * 3)
    parts *= 2;
  return parts;
}

}  // namespace

const Tile* TileOf(std::string_view key) {
  const bool tensor = key.find(".tensor_") != std::string_view::npos;
  const bool ordinary = key.find(".tiled_") != std::string_view::npos ||
                        key.find(".implicit_gemm_") != std::string_view::npos;
  if (!tensor && !ordinary) return nullptr;
  const std::string_view text = key.substr(key.rfind('_') + 1);
  for (const Tile& t : kTiles) {
    if (t.tensor == tensor && t.text == text) return &t;
  }
  return nullptr;
}

ProductShape ProductOf(const Problem& p) {
  ProductShape s;
  const Dims& out = p.outputs[0].shape;
  if (p.family == Family::kGemm) {
    const int rank = out.rank();
    s = {out[rank - 2], out[rank - 1], p.inputs[0].shape.back(), 1};
    for (int d = 0; d < rank - 2; ++d) s.batch *= out[d];
    return s;
  }
  // A transposed convolution is one product per phase (kernels/cuda/conv/phase.cuh).
  const auto& a = p.as<abi::ConvAttrs>();
  const Dims& w = p.inputs[1].shape;
  s.columns = out[1] / a.group;
  s.rows = out[0];
  s.length = p.inputs[0].shape[1] / a.group;
  s.batch = a.group;
  for (int d = 0; d < a.strides.rank(); ++d) {
    const int64_t phases = a.transposed ? a.strides[d] : 1;
    s.rows *= CeilDiv(out[d + 2], phases);
    s.length *= CeilDiv(w[d + 2], phases);
    s.batch *= phases;
  }
  return s;
}

abi::LaunchConfig LaunchTile(const Tile& tile, const Problem& p, const abi::DeviceSpec& d) {
  const ProductShape shape = ProductOf(p);
  const int64_t tiles = std::min<int64_t>(TileCount(tile, shape), kMaxTiles);
  const int64_t parts = Parts(tile, shape, d.sm_count);
  abi::LaunchConfig launch =
      Launch1d(GridFor(tiles * parts, 1), static_cast<uint32_t>(tile.threads()));
  launch.cluster[0] = static_cast<uint32_t>(parts);
  launch.dynamic_shared_bytes = static_cast<uint32_t>(SharedBytes(tile, p));
  return launch;
}

std::string RefuseTile(const Tile& tile, const Problem& p) {
  const ProductShape s = ProductOf(p);
  if (TileCount(tile, s) > kMaxTiles) return "needs more blocks than a grid has";
  if (!tile.tensor) return {};
  if (SumDType(p) != DType::kF32) return "tensor cores here multiply f32, f16 and bf16 only";
  if (p.math != MathMode::kTf32 && p.math != MathMode::kFp16 && p.math != MathMode::kBf16) {
    return StrCat("the math mode is ", abi::MathModeName(p.math),
                  ", tensor cores are for tf32, fp16 and bf16");
  }
  const DType data = p.inputs[0].dtype;
  if ((p.math == MathMode::kFp16 && data == DType::kBF16) ||
      (p.math == MathMode::kBf16 && data == DType::kF16)) {
    return StrCat("math mode ", abi::MathModeName(p.math), " would narrow ", DTypeName(data),
                  " data");
  }
  return {};
}

double TileUs(const Tile& t, const Problem& p, const abi::DeviceSpec& d) {
  const ProductShape s = ProductOf(p);
  const auto parts = static_cast<double>(Parts(t, s, d.sm_count));
  const double blocks = static_cast<double>(TileCount(t, s)) * parts;
  const double steps = std::ceil(static_cast<double>(Steps(t, s)) / parts);
  const int64_t by_memory = 220 * 1024 / SharedBytes(t, p), by_threads = 1536 / t.threads();
  const double resident =
      std::clamp<double>(static_cast<double>(std::min(by_memory, by_threads)), 1, 8);
  // One multiprocessor's rate: the share of its peak that the part of one thread or warp reaches;
  // beyond it shared memory is the limit.
  const double part = static_cast<double>(t.part_m) * t.part_n / (t.part_m + t.part_n);
  const double reach = std::min(1.0, t.tensor ? part / 21 : part / 2.6) * (t.tensor ? 0.55 : 0.75);
  const double tf32 = p.math == MathMode::kTf32 ? 0.5 : 1.0;
  const double peak = t.tensor ? d.tensor_flops_per_us * tf32 : d.fp32_flops_per_us;
  const double step_us = 2.0 * t.m * t.n * t.k / (peak / d.sm_count * reach);
  // Every round of resident blocks pays the start, then per step the latency of a barrier and of
  // the loads that the stages do not hide, or the arithmetic of all the residents.
  const double rounds = std::ceil(blocks / (d.sm_count * resident));
  const double together = std::min(resident, std::ceil(blocks / d.sm_count));
  const double epilogue = 1.0e-4 * t.m * t.n * t.split / parts + (parts > 1 ? 1.0 : 0.0);
  const double block_us = 1.3 + steps * std::max(0.22, together * step_us) + epilogue;
  const double memory = abi::ByteCount(p) / (d.bytes_per_us * 0.7);
  return d.launch_us + std::max(rounds * block_us, memory);
}

}  // namespace aicf::cuda
