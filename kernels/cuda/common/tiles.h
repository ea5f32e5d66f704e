/// Tiles of the product kernels (gemm, conv): their numbers become constants of an instance, and
/// the launch and the prediction follow from the same row.
#pragma once

#include <string_view>

#include "kernels/abi/raw_dtype.h"
#include "kernels/cuda/common/host.h"

namespace aicf::cuda {

struct Tile {
  std::string_view text;  ///< "64x64"
  bool tensor;
  int m, n, k;
  int part_m, part_n;  ///< sums of a thread (ordinary units) or of a warp (tensor cores)
  int split, stages;

  int threads() const { return m / part_m * (n / part_n) * split * (tensor ? 32 : 1); }
};

/// The tile of a product kernel ("cuda.gemm.tiled_64x64", "cuda.conv.tensor_32x32"); nullptr for
/// others.
const Tile* TileOf(std::string_view key);

/// The product a step is: rows x columns sums of `length` products, `batch` times (gemm: the batch;
/// conv: groups and phases).
struct ProductShape {
  int64_t rows = 0, columns = 0, length = 0, batch = 1;
};
ProductShape ProductOf(const abi::Problem& problem);

abi::LaunchConfig LaunchTile(const Tile& tile, const abi::Problem& problem,
                             const abi::DeviceSpec& device);
/// Tensor-core tiles take f32, f16 and bf16 data in the math modes tf32, fp16 and bf16.
std::string RefuseTile(const Tile& tile, const abi::Problem& problem);
double TileUs(const Tile& tile, const abi::Problem& problem, const abi::DeviceSpec& device);

/// dtype of the sums of a product step.
inline DType SumDType(const abi::Problem& p) { return abi::RawDType(p); }

}  // namespace aicf::cuda
