/// What is legal for the product kernels (gemm, blockgemm, conv), which compute tiles of the
/// output: every tile is a parameter set, whose numbers become constants of the instance.
#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "kernels/abi/raw_dtype.h"
#include "kernels/cuda/common/host.h"

namespace aicf::cuda {

/// A step as a product of matrices: rows x columns sums of `length` products, `batch` times (gemm:
/// the batch; conv: groups and phases). A result is made of one sum or, with two halves
/// (GemmAttrs), of two.
struct ProductShape {
  int64_t rows = 0, columns = 0, length = 0, batch = 1, halves = 1;

  int64_t result_columns() const { return columns / halves; }
};
ProductShape ProductOf(const abi::Problem& problem);

/// dtype of the sums of a product step.
inline DType SumDType(const abi::Problem& p) { return abi::RawDType(p); }

/// The parameters of a tile: m x n of the output and k per stage; part_m x part_n of it that a
/// thread (ordinary units) or a warp (tensor cores) keeps; `split` groups of threads that share out
/// k; `stages` in shared memory; `cluster` blocks that share out k; and `vector` results per store.
struct Tile {
  bool tensor;
  int64_t m, n, k, part_m, part_n, split, stages, cluster, vector;

  /// REQUIRES: a set with the names of the ranges below.
  Tile(bool tensor_cores, const abi::Parameters& c);
  int64_t threads() const { return m / part_m * (n / part_n) * split * (tensor ? 32 : 1); }
};

inline constexpr int64_t kMaxTile = 256;
inline constexpr abi::ParameterRange kOrdinaryTileParameters[] = {
    {"tile_m", 16, kMaxTile}, {"tile_n", 8, kMaxTile}, {"tile_k", 8, kMaxTile},
    {"thread_m", 1, 16},      {"thread_n", 4, 16},     {"split", 1, 8},
    {"stages", 2, 8},         {"cluster", 1, 16},      kVectorRange};
inline constexpr abi::ParameterRange kTensorTileParameters[] = {
    {"tile_m", 16, kMaxTile}, {"tile_n", 8, kMaxTile}, {"tile_k", 8, kMaxTile},
    {"warp_m", 16, 128},      {"warp_n", 8, 128},      {"split", 1, 8},
    {"stages", 2, 8},         {"cluster", 1, 16},      kVectorRange};

/// The ranges of a tile, and whether B is packed.
constexpr auto WithPackedB(std::span<const abi::ParameterRange> tile) {
  std::array<abi::ParameterRange, std::size(kTensorTileParameters) + 1> ranges{};
  std::ranges::copy(tile, ranges.begin());
  ranges.back() = {"packed_b", 0, 1, 0};  // absent or 0: B lies as the step's view describes it
  return ranges;
}
static_assert(std::size(kTensorTileParameters) == std::size(kOrdinaryTileParameters));

/// Tiles of the output, all batches together.
int64_t TileCount(const Tile& tile, const ProductShape& shape);
/// Shared memory in bytes: the layout of common/tile.cuh, which asserts that this is enough.
int64_t SharedBytes(const Tile& tile, const abi::Problem& problem);

/// Empty, or why tensor cores do not take the problem.
std::string RefuseTensorCores(const abi::Problem& problem);
/// Empty, or why the tile cannot be computed: parts that do not divide it, too many threads, blocks
/// or bytes of shared memory.
std::string RefuseTile(const Tile& tile, const abi::Problem& problem,
                       const abi::DeviceSpec& device);
abi::LaunchConfig LaunchTile(const Tile& tile, const abi::Problem& problem);

/// Base of the two product kernels of a family. A host that derives from it adds its key, its
/// source, and what its family refuses.
template <bool kTensor>
struct TileHostBase : CudaHostBase {
  static constexpr std::span<const abi::ParameterRange> kParameters =
      kTensor ? std::span<const abi::ParameterRange>(kTensorTileParameters)
              : std::span<const abi::ParameterRange>(kOrdinaryTileParameters);

  static std::string Refusal(const abi::Problem& p, const abi::DeviceSpec&) {
    return kTensor ? RefuseTensorCores(p) : std::string();
  }
  static std::string Refuse(const abi::Problem& p, const abi::Parameters& c,
                            const abi::DeviceSpec& d) {
    return RefuseTile(Tile(kTensor, c), p, d);
  }
  static abi::LaunchConfig Launch(const abi::Problem& p, const abi::Parameters& c) {
    return LaunchTile(Tile(kTensor, c), p);
  }
};

}  // namespace aicf::cuda
