#include "kernels/cuda/blockgemm/chunk_cost.h"

#include "kernels/cuda/blockgemm/packed.h"

namespace aicf::cuda {
namespace {

// Instructions of the integer units per lane for one chunk; most instructions of the kernels are of
// this kind.
double IntegerSlots(BlockFormat format) {
  switch (format) {
    case BlockFormat::kQ4_0:
    case BlockFormat::kQ4_1:
    case BlockFormat::kQ8_0:
      return 145;
    case BlockFormat::kQ5_0:
    case BlockFormat::kQ5_1:
    case BlockFormat::kQ5_K:
      return 215;
    case BlockFormat::kQ2_K:
      return 190;
    case BlockFormat::kQ3_K:
    case BlockFormat::kQ6_K:
      return 305;
    default:
      return 160;
  }
}

}  // namespace

double RowColumnsOf(int depth, int64_t rows) {
  double columns = 8.0 * 32 / depth;
  while (columns < static_cast<double>(rows)) columns *= 2;
  return columns;
}

ChunkCost ChunkCostOf(BlockFormat format, int64_t rows, bool integers) {
  const double more = RowColumnsOf(ChunkOf(format).depth, rows) - 1;
  const double share = integers ? 0.6 : 1.0;  // integers take fewer instructions
  return {share * 0.216 * (1 + 0.1 * more) * IntegerSlots(format) / 160,
          share * 0.424 * (1 + 0.16 * more)};
}

}  // namespace aicf::cuda
