// Scales of blocks of a Hopper product's operands (GemmAttrs::scale_terms). For each stage, A has a
// scale for each row, and B one for each column or for each block of 128 columns. They lie in
// shared memory beside their stage. When the sums of a stage are added in f32, each is multiplied
// by the scales of its row and its column.
#pragma once

#include "common/hopper_stage.cuh"

namespace aicf {

/// Whether the view has stride 1 along `axis`, whose part below `extent` is used, and all its lines
/// along that axis begin and end at multiples of 16 bytes. Buffers begin at such multiples.
template <class View>
AICF_DEVICE constexpr bool LiesInPieces(int axis, int other, index_t extent) {
  bool pieces = View::stride(axis) == 1 && View::kOffset % 4 == 0 && extent % 4 == 0;
  pieces = pieces && (View::extent(other) == 1 || View::stride(other) % 4 == 0);
  for (int d = 0; d < kAxisM; ++d)
    pieces = pieces && (View::extent(d) == 1 || View::stride(d) % 4 == 0);
  return pieces;
}

/// How scales lie beside one stage, those of the tile's rows before those of its columns, and the
/// scales that a consumer's thread has read into registers. kTerms terms of k share a scale.
template <int kTerms>
struct BlockScales {
  static constexpr bool kByColumn = attr_scale_columns == 1;
  static constexpr int kOfColumns = static_cast<int>(attr_scale_columns);
  /// Columns that share a scale in every tile, counted from a multiple of kRun in the tile.
  static constexpr int kRun = kByColumn ? 1 : MinOf(kOfColumns, kTileN & -kTileN);
  static constexpr int kOfB = kTileN / kRun;
  static constexpr int kFloats = kTileM + (kOfB + 3) / 4 * 4;
  /// Whether the scales of the rows, and with kByColumn those of the columns, are lines of memory
  /// in which every tile begins and ends at a multiple of 16 bytes. Then the thread that asks for A
  /// asks the copy engine for them, too.
  static constexpr bool kLines = LiesInPieces<ScalesOfA>(kAxisM, kAxisN, kM) &&
                                 (!kByColumn || LiesInPieces<ScalesOfB>(kAxisN, kAxisM, kN));
  /// Warps of the producer that fetch scales otherwise, element by element.
  static constexpr int kWarps = kLines ? 0 : 3;
  /// Arrivals at a stage's barrier by those who fetch its scales.
  static constexpr int kArrivals = kLines ? 1 : 32 * kWarps;
  static_assert(kTerms == kTileK, "a stage has one scale");
  static_assert(kTerms == 0 || kByColumn || kOfColumns == 128, "of columns, or of 128 of them");
  static_assert(kTerms == 0 || (!kSwap && kProductHalves == 1), "the cores' rows are those of A");
  static_assert(kTerms == 0 || kSharing == 1, "a block's stages are its own");
  static_assert(kTerms == 0 || kPromote == 1, "sums of one stage have one scale");

  float a[2];
  float b[kByColumn ? kColumns / 4 : kOfB];  ///< by column: those of the thread's own

  /// Reads the scales of the thread's two rows in the block of 64 rows that begins at `row`
  /// of the tile.
  AICF_DEVICE void ReadRows(const float* stage, int row) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int warp = static_cast<int>(threadIdx.x) / 32 % 4;
    const float* own = stage + row + warp * 16 + lane / 4;
    a[0] = own[0];
    a[1] = own[8];
  }
  AICF_DEVICE void ReadColumns(const float* stage) {
    if constexpr (kByColumn) {
      const float* own = stage + kTileM + static_cast<int>(threadIdx.x) % 4 * 2;
#pragma unroll
      for (int g = 0; g < kColumns / 8; ++g) {
        const auto pair = *reinterpret_cast<const Pack<float, 2>*>(own + 8 * g);
        b[2 * g] = pair.v[0];
        b[2 * g + 1] = pair.v[1];
      }
    } else {
#pragma unroll
      for (int j = 0; j < kOfB; ++j) b[j] = stage[kTileM + j];
    }
  }
  /// The factor of the thread's sum j of a block of 64 rows (the order of common/wgmma.cuh).
  AICF_DEVICE float Of(int j) const {
    const int group = j / 4, below = j / 2 % 2;
    return a[below] * b[kByColumn ? 2 * group + j % 2 : group * 8 / kRun];
  }
};

}  // namespace aicf
