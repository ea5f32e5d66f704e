// What row_moments.cuh and part_moments.cuh share. Two neighbouring threads of a consumer compute
// the mean and the scale (GemmAttrs::moments_epsilon) of a row of A together and put them into the
// consumer's shared memory, where the epilogue reads them. Only one warp of the consumer is
// concerned with a row, unless the tensor cores' columns run along m (kSwap), or blocks divide k
// and exchange their sums (kSplit).
#pragma once

#include "common/block.cuh"
#include "common/hopper_stage.cuh"
#include "common/mbarrier.cuh"
#include "common/shared_words.cuh"

namespace aicf {

struct MomentRows {
  static constexpr bool kSeen = true;
  static constexpr bool kStored = attr_stores_moments != 0;
  static constexpr int kRaws = 2;
  static constexpr int kRows = kSwap ? kTileM : kConsumerRows;  ///< of a consumer
  static constexpr int kBlocks = (kRows - 1) / 64 + 1;          ///< of 64 rows, two threads a row
  static constexpr int kFloats = 2 * kRows;
  static constexpr bool kOneWarp = !kSwap && kSplit == 1;

  /// The index along m of the consumer's first row; `row0` is its first of the tensor cores' rows.
  template <class Walk>
  static AICF_DEVICE index_t FirstOf(const Walk& walk, int row0) {
    return walk.row0 + (kSwap ? 0 : row0);
  }
  /// Separates the writes of the consumer's threads to its memory from the reads that follow, and
  /// those reads from the writes for the next tile.
  static AICF_DEVICE void Meet(int consumer) {
    if constexpr (kOneWarp)
      __syncwarp();
    else
      NamedBarrierMeet(4 + consumer, 128);
  }
  /// The thread's row in each block of 64, which it shares with a neighbour, and its half of it.
  static AICF_DEVICE int Row() { return static_cast<int>(threadIdx.x) % 128 / 2; }
  static AICF_DEVICE int Half() { return static_cast<int>(threadIdx.x) % 2; }
  /// The sum over both halves of a row, `own` being the thread's.
  static AICF_DEVICE float OfRow(float own) { return own + ShuffleXor(own, 1); }

  /// Puts mean and scale of row `row` into the consumer's memory, if it has that row.
  static AICF_DEVICE void Put(float* memory, int row, float mean, float variance) {
    if (kRows % 64 != 0 && row >= kRows) return;
    const float scale =
        1.0f / sqrtf(fmaxf(variance, 0.0f) + static_cast<float>(attr_moments_epsilon));
    if (Half() == 0) *reinterpret_cast<Pack<float, 2>*>(memory + 2 * row) = {mean, scale};
  }
  /// Stores the moments of a tile's rows. Of all tiles with these rows only the one with the first
  /// columns does so, so that each row is stored once.
  template <class Walk>
  AICF_DEVICE void Store(const Args& args, const Walk& walk, int row0, const float* memory) const {
    if constexpr (kStored) {
      if (walk.column0 != 0 || (kSwap && row0 != 0) || Half() != 0) return;
      if (kSplit > 1 && RankInCluster() != 0) return;
#pragma unroll
      for (int i = 0; i < kBlocks; ++i) {
        const int row = i * 64 + Row();
        const index_t m = FirstOf(walk, row0) + row;
        if (row < kRows && m < kM) StoreRow(args, m, walk.batch, memory + 2 * row);
      }
    }
  }

  /// Offset of the numbers of row m in a view of [.., M, numbers].
  template <class View>
  static AICF_DEVICE index_t OffsetOf(index_t m, index_t batch) {
    const Point at = kRowsInner ? OutputPoint(m, 0, batch) : OutputPoint(0, m, batch);
    index_t offset = View::kOffset;
#pragma unroll
    for (int d = 0; d < kAxisN; ++d) offset += static_cast<index_t>(at.c[d]) * View::stride(d);
    return offset;
  }

 private:
  static AICF_DEVICE void StoreRow(const Args& args, index_t m, index_t batch,
                                   const float* moments) {
    float* to = static_cast<float*>(args.out[kOutputs - 1]) + OffsetOf<MomentsView>(m, batch);
    to[0] = moments[0];
    to[MomentsView::stride(kAxisN)] = moments[1];
  }
};

}  // namespace aicf
