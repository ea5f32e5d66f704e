// What row_moments.cuh and part_moments.cuh share: the rows of a consumer whose mean and scale
// (GemmAttrs::moments_epsilon) two neighbouring threads make together. Both lie in the consumer's
// shared memory for its epilogue. A row is the concern of one warp unless the tensor cores' columns
// run along m, or blocks share out k and exchange what they have summed up.
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
  static constexpr int kBlocks = (kRows - 1) / 64 + 1;          ///< that its threads have at once
  static constexpr int kFloats = 2 * kRows;
  static constexpr bool kOneWarp = !kSwap && kSplit == 1;

  /// The index along m of the consumer's first row; `row0` is its first of the tensor cores' rows.
  template <class Walk>
  static AICF_DEVICE index_t FirstOf(const Walk& walk, int row0) {
    return walk.row0 + (kSwap ? 0 : row0);
  }
  /// Between what the consumer's threads put into its memory and what they read of it, and between
  /// that and what they put there for the next tile.
  static AICF_DEVICE void Meet(int consumer) {
    if constexpr (kOneWarp)
      __syncwarp();
    else
      NamedBarrierMeet(4 + consumer, 128);
  }
  /// The first of the consumer's rows that the thread has one half of, and which half.
  static AICF_DEVICE int Row() { return static_cast<int>(threadIdx.x) % 128 / 2; }
  static AICF_DEVICE int Half() { return static_cast<int>(threadIdx.x) % 2; }
  /// Of both halves.
  static AICF_DEVICE float OfRow(float own) { return own + ShuffleXor(own, 1); }

  /// Puts mean and scale of row `row` into the consumer's memory, if it has that row.
  static AICF_DEVICE void Put(float* memory, int row, float mean, float variance) {
    if (kRows % 64 != 0 && row >= kRows) return;
    const float scale =
        1.0f / sqrtf(fmaxf(variance, 0.0f) + static_cast<float>(attr_moments_epsilon));
    if (Half() == 0) *reinterpret_cast<Pack<float, 2>*>(memory + 2 * row) = {mean, scale};
  }
  /// Stores the moments of a tile's rows, once: its columns are the first ones.
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

  /// Where the numbers of row m lie in a view of [.., M, numbers].
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
