// How attention/decode.cuh adds up rows that warps and blocks have of different keys: all parts
// shrink to the largest maximum, and are added in the order of their keys.
#pragma once

#include "attention/warp_rows.cuh"
#include "common/inbox.cuh"

namespace aicf {

constexpr int kSumPitch = kValueWidth + 8;  ///< rows that a warp writes at once differ in banks

/// What one warp or block has of each row.
struct alignas(16) SavedRows {
  float sum[kHeldRows][kSumPitch];
  float max[kHeldRows], total[kHeldRows];
};

/// Four neighbours of a row, of a block's keys, as another block of the cluster receives them.
struct alignas(16) Part {
  static constexpr int kColumns = 4, kBytes = 4 * (kColumns + 2);
  float sum[kColumns];
  float max, total;
};
constexpr int kRowParts = kValueHead / Part::kColumns, kAllParts = kHeldRows * kRowParts;
constexpr int kShare = (kAllParts + kSplit - 1) / kSplit;  ///< that a block adds up and stores
constexpr int kReceivedBytes = kSplit > 1 ? kSplit* kShare* static_cast<int>(sizeof(Part)) : 0;
static_assert(kDynamicShared >= kWarps * static_cast<int>(sizeof(SavedRows)) + kReceivedBytes,
              "the launch has the shared memory");

/// Of the block's warps, in the place of queries, keys and values.
AICF_DEVICE SavedRows* Saved() { return reinterpret_cast<SavedRows*>(DynamicShared()); }
/// What block `rank` has of this block's share: behind all else, since a block may send while
/// another one still multiplies.
AICF_DEVICE Part* Received(int rank) {
  return reinterpret_cast<Part*>(DynamicShared() + kDynamicShared - kReceivedBytes) + rank * kShare;
}

/// Bytes that blocks send to block `rank`.
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

/// Gives a part of the block's rows to the block of the cluster that adds it up.
AICF_DEVICE void Send(Inbox& inbox, const Part& part, int index, int rank) {
  typedef Pack<float, 2> Pair;
  const Pair* const to = reinterpret_cast<const Pair*>(&Received(rank)[index % kShare]);
  const int owner = index / kShare;
  inbox.Send(to, Pair{{part.sum[0], part.sum[1]}}, owner);
  inbox.Send(to + 1, Pair{{part.sum[2], part.sum[3]}}, owner);
  inbox.Send(to + 2, Pair{{part.max, part.total}}, owner);
}

/// The warps' rows become results where the block has all keys, or else are sent.
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

/// Stores the block's share of the results, of all keys.
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
