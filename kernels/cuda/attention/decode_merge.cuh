// How attention/decode.cuh adds up rows that warps and blocks have of different keys: all parts
// shrink to the largest maximum, and are added in the order of their keys.
#pragma once

#include "attention/warp_rows.cuh"

namespace aicf {

constexpr int kSumPitch = kValueWidth + 8;  ///< rows that a warp writes at once differ in banks

/// What one warp or block has of each row.
struct alignas(16) SavedRows {
  float sum[kHeldRows][kSumPitch];
  float max[kHeldRows], total[kHeldRows];
};
static_assert(kDynamicShared >= (kWarps + 1) * static_cast<int>(sizeof(SavedRows)),
              "the launch has the shared memory");

/// Of the block's warps, and behind them of the block.
AICF_DEVICE SavedRows* Saved() { return reinterpret_cast<SavedRows*>(DynamicShared()); }

AICF_DEVICE void SaveRows(const WarpRows& rows, int warp, int lane) {
  SavedRows& to = Saved()[warp];
#pragma unroll
  for (int half = 0; half < kHalves; ++half) {
    float total = rows.total[half] + ShuffleXor(rows.total[half], 1);
    total += ShuffleXor(total, 2);
    const int r = lane / 4 + half * 8;
    if (r >= kHeldRows) continue;
#pragma unroll
    for (int n = 0; n < kValueTiles; ++n) {
      const Pack<float, 2> pair = {{rows.sum[n][half * 2], rows.sum[n][half * 2 + 1]}};
      *reinterpret_cast<Pack<float, 2>*>(&to.sum[r][n * 8 + lane % 4 * 2]) = pair;
    }
    if (lane % 4 == 0) {
      to.max[r] = rows.max[half];
      to.total[r] = total;
    }
  }
}

/// kCount parts of a row, to be added up.
template <int kCount>
struct Merge {
  float factor[kCount], max, total;

  /// `max_of`, `total_of`: of part i.
  template <class MaxOfPart, class TotalOfPart>
  AICF_DEVICE Merge(MaxOfPart max_of, TotalOfPart total_of) : max(NoScore()), total(0) {
    float totals[kCount];
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      factor[i] = max_of(i);
      totals[i] = total_of(i);
    }
#pragma unroll
    for (int i = 0; i < kCount; ++i) max = factor[i] > max ? factor[i] : max;
    // While every score is -inf, they are weighed against 0: exponentials of 0, not of NaN.
    const float base = max == NoScore() ? 0.0f : max;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      factor[i] = WeightOf(factor[i] - base);
      total = total + totals[i] * factor[i];
    }
  }
  template <class SumOfPart>
  AICF_DEVICE float Sum(SumOfPart sum_of) const {
    float parts[kCount];
#pragma unroll
    for (int i = 0; i < kCount; ++i) parts[i] = sum_of(i);
    float sum = 0;
#pragma unroll
    for (int i = 0; i < kCount; ++i) sum = sum + parts[i] * factor[i];
    return sum;
  }
};

/// Stores one element of row r, of all keys.
AICF_DEVICE void StoreMerged(const Args& args, const Tile& tile, int r, int column, float sum,
                             float max, float total) {
  if (!tile.Holds(r)) return;
  const float factor = total == 0 ? 0.0f : 1.0f / total;
  StoreElement<Out0>(args.out[0], tile.Offset<Out0>(r) + column * Out0::stride(3), sum * factor);
  if (column == 0) StoreLogSum(args, tile, r, max, total);
}

/// The warps' rows become the block's, or the results where the block has all keys.
template <bool kAll>
AICF_DEVICE void MergeWarps(const Args& args, const Tile& tile) {
  constexpr int kColumns = 4;  // of a thread at a time
  const SavedRows* const warps = Saved();
  SavedRows& block = Saved()[kWarps];
  for (int i = ThreadInBlock() * kColumns; i < kHeldRows * kValueHead; i += kThreads * kColumns) {
    const int r = i / kValueHead, column = i % kValueHead;
    const Merge<kWarps> merge([&](int w) { return warps[w].max[r]; },
                              [&](int w) { return warps[w].total[r]; });
    Pack<float, kColumns> part[kWarps];
#pragma unroll
    for (int w = 0; w < kWarps; ++w) {
      part[w] = *reinterpret_cast<const Pack<float, kColumns>*>(&warps[w].sum[r][column]);
    }
#pragma unroll
    for (int e = 0; e < kColumns; ++e) {
      const float sum = merge.Sum([&](int w) { return part[w].v[e]; });
      if constexpr (kAll)
        StoreMerged(args, tile, r, column + e, sum, merge.max, merge.total);
      else
        block.sum[r][column + e] = sum;
    }
    if (kAll || column != 0) continue;
    block.max[r] = merge.max;
    block.total[r] = merge.total;
  }
}

/// Stores a share of the results: every block of the cluster has another one.
AICF_DEVICE void MergeBlocks(const Args& args, const Tile& tile, int rank) {
  constexpr int kElements = kHeldRows * kValueHead, kShare = (kElements + kSplit - 1) / kSplit;
  const SavedRows& block = Saved()[kWarps];
  for (int i = ThreadInBlock(); i < kShare && rank * kShare + i < kElements; i += kThreads) {
    const int r = (rank * kShare + i) / kValueHead, column = (rank * kShare + i) % kValueHead;
    const Merge<kSplit> merge([&](int b) { return LoadCluster(&block.max[r], b); },
                              [&](int b) { return LoadCluster(&block.total[r], b); });
    const float sum = merge.Sum([&](int b) { return LoadCluster(&block.sum[r][column], b); });
    StoreMerged(args, tile, r, column, sum, merge.max, merge.total);
  }
}

}  // namespace aicf
