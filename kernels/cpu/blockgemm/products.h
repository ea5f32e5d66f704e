/// The interface between the host code of cpu.blockgemm.* and its files per instruction set:
/// prepared rows of A, and rectangles of raw results. Plain data.
#pragma once

#include <cstdint>

#include "base/block_format.h"
#include "kernels/cpu/expr/block_eval.h"

namespace aicf::cpu {

/// Rows of A, one after the other.
struct BlockRows {
  int64_t depth = 0;
  const float* values = nullptr;  ///< math mode fp32: row r at values + r * stride
  int64_t stride = 0;
  // Math mode int8. Row r: element k is codes[r * depth + k] * scales[(r * depth + k) / 32].
  int8_t* codes = nullptr;
  float* scales = nullptr;
  /// One number for each run of elements that share a scale in the weights' format. If the format
  /// has minimums, it is the sum of the row's elements in the run, with which the minimum is
  /// multiplied. Otherwise it is the integer from which the run's sum of products starts: -offset
  /// times the sum of the row's codes in the run.
  union Start {
    float sum;
    int32_t correction;
  }* starts = nullptr;
};

/// A rectangle of raw results: rows [first_row, first_row + rows) of A by the columns of panels
/// [first_panel, first_panel + panels). The last panel is computed whole, even where the matrix has
/// fewer columns.
struct BlockTask {
  BlockFormat format;
  BlockRows a;
  const char* packed = nullptr;
  int64_t panel_bytes = 0, halves_bytes = 0;
  int64_t first_row = 0, rows = 0, first_panel = 0, panels = 0;
  float* out = nullptr;  ///< (0, 0) of the rectangle
  int64_t out_stride = 0;
};

/// Panels that are computed together where there are more than kFewRows rows.
inline constexpr int kTilePanels = 2;
/// Up to this number of rows, codes are decoded in registers and multiplied at once; more rows
/// share a decoded copy in memory.
inline constexpr int kFewRows = 4;

/// What has to be known of the weights' format to round a row of A (layout.h).
struct BlockRounding;

#define AICF_BLOCK_INT8(isa)                     \
  namespace isa {                                \
  /** Products of rounded rows. */               \
  void BlockProductsInt8(const BlockTask& task); \
  }
#define AICF_BLOCK_PRODUCTS(isa)                                                             \
  AICF_BLOCK_INT8(isa)                                                                       \
  namespace isa {                                                                            \
  /** Products of rows as they are. */                                                       \
  void BlockProductsFp32(const BlockTask& task);                                             \
  /** Rounds one row of f32 (math mode int8): number `row` of `to`. */                       \
  void RoundBlockRow(const float* from, const BlockRounding& r, int64_t row, BlockRows& to); \
  }
AICF_BLOCK_PRODUCTS(avx2)
AICF_BLOCK_PRODUCTS(avx512)
AICF_BLOCK_INT8(avx512vnni)
#undef AICF_BLOCK_PRODUCTS
#undef AICF_BLOCK_INT8

}  // namespace aicf::cpu
