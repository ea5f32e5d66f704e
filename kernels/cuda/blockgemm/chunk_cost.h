/// What multiplying packed chunks costs the kernels for few rows, beside reading them. The
/// constants are fitted to chains of launches over distinct weights on an H100
/// (bench/results/h200_language.md).
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/block_format.h"

namespace aicf::cuda {

/// Times of one chunk in us: where a quarter of a multiprocessor has enough warps to be busy all
/// the time, and where a single warp waits for its own instructions.
struct ChunkCost {
  double quarter_us = 0, alone_us = 0;

  /// us that a multiprocessor takes for so many chunks with so many warps.
  double Us(double chunks, double warps) const {
    return chunks * std::max(quarter_us / 4, alone_us / warps);
  }
};

/// For `rows` rows of A. `integers`: the only row is one of integers.
ChunkCost ChunkCostOf(BlockFormat format, int64_t rows, bool integers);

/// Columns of a fragment that hold rows of A at the same run of a chunk of `depth` elements
/// (kRowColumns in blockgemm/panel_sums.cuh).
double RowColumnsOf(int depth, int64_t rows);

}  // namespace aicf::cuda
