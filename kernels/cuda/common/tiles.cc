#include "kernels/cuda/common/tiles.h"

#include <algorithm>

namespace aicf::cuda {
namespace {

using abi::MathMode;
using abi::Problem;

bool SixteenBit(const Tile& tile, const Problem& p) {
  return tile.tensor && p.math != MathMode::kTf32;
}

std::string RefuseParts(const Tile& t, const Problem& p) {
  if (t.m % t.part_m != 0 || t.n % t.part_n != 0) return "its parts do not divide the tile";
  if (t.k % t.split != 0) return StrCat("its ", t.split, " groups do not divide k");
  const int64_t group_k = t.k / t.split;
  if (!t.tensor) {
    // Shared memory is read in fours.
    return t.part_n % 4 == 0 && group_k % 4 == 0 ? "" : "it is no multiple of four elements";
  }
  const int64_t step = p.math == MathMode::kTf32 ? 8 : 16;
  const bool whole = t.part_m % 16 == 0 && t.part_n % 8 == 0 && group_k % step == 0;
  return whole ? "" : "it is no whole number of fragments";
}

std::string RefuseSize(const Tile& t, const Problem& p, const abi::DeviceSpec& d) {
  const int64_t threads = t.threads();
  if (threads > kMaxThreads || threads % 32 != 0) {
    return StrCat("it takes ", threads, " threads, not a multiple of 32 up to 1024");
  }
  // A line of the tile is loaded at once.
  if (threads < std::max({t.m, t.n, t.k})) return StrCat(threads, " threads are fewer than a line");
  const int64_t shared = SharedBytes(t, p);
  if (shared > d.max_shared_bytes) {
    return StrCat("it needs ", shared, " bytes of shared memory, there are ", d.max_shared_bytes);
  }
  if (TileCount(t, ProductOf(p)) > kMaxBlocks / t.cluster)
    return "it needs more blocks than a grid has";
  return {};
}

}  // namespace

Tile::Tile(bool tensor_cores, const abi::Parameters& c)
    : tensor(tensor_cores),
      m(c["tile_m"]),
      n(c["tile_n"]),
      k(c["tile_k"]),
      part_m(c[tensor_cores ? "warp_m" : "thread_m"]),
      part_n(c[tensor_cores ? "warp_n" : "thread_n"]),
      split(c["split"]),
      stages(c["stages"]),
      cluster(c["cluster"]),
      vector(c["vector"]) {}

int64_t TileCount(const Tile& t, const ProductShape& s) {
  return std::max<int64_t>(1, CeilDiv(s.rows, t.m)) *
         std::max<int64_t>(1, CeilDiv(s.columns, t.n)) * s.batch;
}

int64_t SharedBytes(const Tile& t, const Problem& p) {
  const int64_t sum_bytes = t.tensor ? 4 : std::max<int64_t>(4, DTypeBytes(SumDType(p)));
  const int64_t bytes = SixteenBit(t, p) ? 2 : t.tensor ? 4 : sum_bytes;
  const int64_t pad_a = SixteenBit(t, p) ? 8 : 4, pad_b = 8;
  const int64_t stage = (t.m * (t.k + pad_a) + t.k * (t.n + pad_b)) * bytes;
  const bool rows = RowsInner(p);
  const int64_t inner = rows ? t.m : t.n, outer = rows ? t.n : t.m;
  return std::max(t.stages * stage, t.split * outer * (inner + 4) * sum_bytes);
}

std::string RefuseTensorCores(const Problem& p) {
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

std::string RefuseTile(const Tile& t, const Problem& p, const abi::DeviceSpec& d) {
  std::string refusal = RefuseParts(t, p);
  if (refusal.empty() && !IsPowerOfTwo(static_cast<uint64_t>(t.vector))) {
    refusal = StrCat(t.vector, " results per store are no power of two");
  }
  if (refusal.empty()) refusal = RefuseSize(t, p, d);
  return refusal.empty() ? refusal : StrCat("does not take the tile: ", refusal);
}

abi::LaunchConfig LaunchTile(const Tile& tile, const Problem& p) {
  abi::LaunchConfig launch = Launch1d(TileCount(tile, ProductOf(p)) * tile.cluster, tile.threads());
  launch.cluster[0] = static_cast<uint32_t>(tile.cluster);
  launch.dynamic_shared_bytes = static_cast<uint32_t>(SharedBytes(tile, p));
  return launch;
}

}  // namespace aicf::cuda
