// How attention/decode.cuh merges what warps and blocks have computed of the same rows for
// different keys: all parts are scaled to the largest maximum and added in the order of their keys.
#pragma once

#include "attention/warp_rows.cuh"
#include "common/inbox.cuh"

namespace aicf {

constexpr int kSumPitch = kValueWidth + 8;  ///< rows that a warp writes at once use different banks

/// What one warp has of each row: sums of weighted values, the maximum score, the sum of weights.
struct alignas(16) SavedRows {
  float sum[kHeldRows][kSumPitch];
  float max[kHeldRows], total[kHeldRows];
};

/// Four neighbouring sums of a row over one block's keys, as another block of the
/// cluster receives them.
struct alignas(16) Part {
  static constexpr int kColumns = 4, kBytes = 4 * (kColumns + 2);
  float sum[kColumns];
  float max, total;
};
constexpr int kRowParts = kValueHead / Part::kColumns, kAllParts = kHeldRows * kRowParts;
constexpr int kShare = (kAllParts + kSplit - 1) / kSplit;  ///< parts that a block merges and stores
constexpr int kReceivedBytes = kSplit > 1 ? kSplit* kShare* static_cast<int>(sizeof(Part)) : 0;
static_assert(kDynamicShared >= kWarps * static_cast<int>(sizeof(SavedRows)) + kReceivedBytes,
              "the launch has the shared memory");

/// The rows of each of the block's warps, which overwrite queries, keys and values.
AICF_DEVICE SavedRows* Saved() { return reinterpret_cast<SavedRows*>(DynamicShared()); }
/// What block `rank` has sent of this block's share. It lies behind all other shared memory,
/// because it may arrive while this block still multiplies.
AICF_DEVICE Part* Received(int rank) {
  return reinterpret_cast<Part*>(DynamicShared() + kDynamicShared - kReceivedBytes) + rank * kShare;
}

/// Bytes that all blocks together send to block `rank`.
AICF_DEVICE constexpr int BytesSentTo(int rank) {
  const int left = kAllParts - rank * kShare;
  return kSplit * MaxOf(0, MinOf(kShare, left)) * Part::kBytes;
}

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

/// Merges kCount parts of a row: the factor by which each is scaled, and maximum and sum of weights
/// of all.
template <int kCount>
struct Merge {
  float factor[kCount], max, total;

  /// max_of(i) and total_of(i) are the maximum and the sum of weights of part i.
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
    // Where every score is -inf, 0 takes the place of the maximum: the exponents are then -inf,
    // whose exponential is 0, instead of -inf - -inf, which is NaN.
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

/// Stores one element of row r from the merged sums of all keys.
AICF_DEVICE void StoreMerged(const Args& args, const Tile& tile, int r, int column, float sum,
                             float max, float total) {
  if (!tile.Holds(r)) return;
  const float factor = total == 0 ? 0.0f : 1.0f / total;
  StoreElement<Out0>(args.out[0], tile.Offset<Out0>(r) + column * Out0::stride(3), sum * factor);
  if (column == 0) StoreLogSum(args, tile, r, max, total);
}

/// Sends part `index` of the block's rows to the block of the cluster that merges it.
AICF_DEVICE void Send(Inbox& inbox, const Part& part, int index, int rank) {
  typedef Pack<float, 2> Pair;
  const Pair* const to = reinterpret_cast<const Pair*>(&Received(rank)[index % kShare]);
  const int owner = index / kShare;
  inbox.Send(to, Pair{{part.sum[0], part.sum[1]}}, owner);
  inbox.Send(to + 1, Pair{{part.sum[2], part.sum[3]}}, owner);
  inbox.Send(to + 2, Pair{{part.max, part.total}}, owner);
}

/// Merges the rows of the block's warps. With kAll the block has all keys, and the results are
/// stored; otherwise the parts are sent to the blocks that merge them.
template <bool kAll>
AICF_DEVICE void MergeWarps(const Args& args, const Tile& tile, Inbox& inbox, int rank) {
  typedef Pack<float, Part::kColumns> Columns;
  const SavedRows* const warps = Saved();
  for (int i = ThreadInBlock(); i < kAllParts; i += kThreads) {
    const int r = i / kRowParts, column = i % kRowParts * Part::kColumns;
    const Merge<kWarps> merge([&](int w) { return warps[w].max[r]; },
                              [&](int w) { return warps[w].total[r]; });
    Columns of[kWarps];
#pragma unroll
    for (int w = 0; w < kWarps; ++w) {
      of[w] = *reinterpret_cast<const Columns*>(&warps[w].sum[r][column]);
    }
    Part part = {{}, merge.max, merge.total};
#pragma unroll
    for (int e = 0; e < Part::kColumns; ++e) {
      part.sum[e] = merge.Sum([&](int w) { return of[w].v[e]; });
      if (kAll) StoreMerged(args, tile, r, column + e, part.sum[e], part.max, part.total);
    }
    if (!kAll) Send(inbox, part, i, rank);
  }
}

/// Merges the parts that all blocks have sent of this block's share, and stores the results.
AICF_DEVICE void MergeBlocks(const Args& args, const Tile& tile, int rank) {
  for (int i = ThreadInBlock(); i < kShare * Part::kColumns; i += kThreads) {
    const int own = i / Part::kColumns, e = i % Part::kColumns, index = rank * kShare + own;
    if (index >= kAllParts) break;
    const Merge<kSplit> merge([&](int b) { return Received(b)[own].max; },
                              [&](int b) { return Received(b)[own].total; });
    const float sum = merge.Sum([&](int b) { return Received(b)[own].sum[e]; });
    StoreMerged(args, tile, index / kRowParts, index % kRowParts * Part::kColumns + e, sum,
                merge.max, merge.total);
  }
}

}  // namespace aicf
