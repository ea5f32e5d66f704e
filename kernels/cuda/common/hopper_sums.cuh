// How the sums of a Hopper product lie in a warpgroup's registers, part by part, and in the shared
// memory in which a warp transposes those of a part.
//
// In a product of two halves (kProductHalves) a part has half as many results, each made of one sum
// of each half. Both lie in the same line of the memory: first the sums of the line's results in
// the first half, then those in the second.
#pragma once

#include "common/hopper_helpers.cuh"

namespace aicf {

constexpr int kStageRows = 16;
constexpr int kStageColumns = kColumns % 64 == 0   ? 64
                              : kColumns % 56 == 0 ? 56
                                                   : MinOf(32, kColumns);
static_assert(kColumns % kStageColumns == 0, "whole parts");
constexpr int kStoreParts = kColumns / kStageColumns;
constexpr int kWarpStoreSums = kStageRows * 64;
/// Inputs of the epilogue that are no operands: sums, then moments of the row.
constexpr int kRaws = kProductHalves + Moments::kRaws;
constexpr int kSumsOfThread = kBlocksOfRows * kColumns / 2;

/// Whether the output is contiguous along the tensor cores' columns.
constexpr bool kColumnsInner = kSwap == kRowsInner;
static_assert(!kColumnsInner || kStageColumns != 56, "a line of results is a power of two");
/// Sums that a result takes along the tensor cores' rows and along their columns: kProductHalves in
/// the direction of n, 1 in the other one.
constexpr int kRowHalves = kSwap ? kProductHalves : 1, kColumnHalves = kSwap ? 1 : kProductHalves;
/// Results that a warp has of a part: along the tensor cores' rows and columns, and along and
/// across the output's lines.
constexpr int kPartRows = kStageRows / kRowHalves;
constexpr int kPartColumns = kStageColumns / kColumnHalves;
constexpr int kStoreInner = kColumnsInner ? kPartColumns : kPartRows;
constexpr int kStoreOuter = kColumnsInner ? kPartRows : kPartColumns;
constexpr int kStoreLine = kProductHalves * kStoreInner;  ///< sums of a line
static_assert(kPartColumns % 8 == 0, "halves are whole groups of columns");
static_assert(kRowHalves == 1 || TileB::kHalfRun == 8, "a warp's rows are of both halves");
static_assert(kColumnHalves == 1 || kColumns % (2 * TileB::kHalfRun) == 0, "whole pairs of runs");
constexpr index_t kInnerEnd = kOutputCount0;

/// Results per store; the output's inner direction is whole runs of them.
AICF_DEVICE constexpr int RunOfResults() {
  int run = MinOf(kVector, 8);
  while (kInnerEnd % run != 0) run /= 2;
  return run;
}
constexpr int kRun = RunOfResults();

/// One warpgroup's sums: kBlocksOfRows blocks of 64 rows.
struct Sums {
  static constexpr int kParts = kBlocksOfRows * kStoreParts;

  sum_t d[kBlocksOfRows][kColumns / 2];  // kSumsOfThread of them

  AICF_DEVICE void Hold() {
#pragma unroll
    for (int i = 0; i < kBlocksOfRows; ++i) {
#pragma unroll
      for (int j = 0; j < kColumns / 2; ++j) HoldSum(d[i][j]);
    }
  }
  /// Adds a part's sums to those of block i, multiplied by their scales where there are some. What
  /// follows in the code cannot be moved in front of the additions (HoldSum).
  template <class Scales>
  AICF_DEVICE void Add(int i, sum_t (&part)[kColumns / 2], const Scales& scales) {
#pragma unroll
    for (int j = 0; j < kColumns / 2; ++j) {
      HoldSum(part[j]);
      if constexpr (Scales::kFloats > 0)
        d[i][j] = fmaf(part[j], scales.Of(j), d[i][j]);
      else
        d[i][j] += part[j];
      HoldSum(d[i][j]);
    }
  }
  /// Calls put(sums) with a PartSums, the thread's sums of that part. The part is found by
  /// comparing, because a register cannot have an index that is known only at run time.
  template <class Put>
  AICF_DEVICE void WithPart(int part, const Put& put) const;
};

/// The thread's sums of one part: kStageColumns / 2 of those that it has of 64 rows. They come in
/// one group for every eight columns, each a pair of neighbours in a row and then a pair eight rows
/// below.
struct PartSums {
  const sum_t* first;  ///< of the part or, with halves along the columns, of the 64 rows
  int part;            ///< number of the part along the columns

  /// The upper (below = 0) or lower pair of a group. With halves along the columns the groups of
  /// the first half are counted first.
  AICF_DEVICE const sum_t* Pair(int group, int below) const {
    constexpr int kGroups = kPartColumns / 8, kRunGroups = TileB::kHalfRun / 8;
    if constexpr (kColumnHalves > 1) {
      const int result = part * kGroups + group % kGroups, half = group / kGroups;
      group = (result / kRunGroups * 2 + half) * kRunGroups + result % kRunGroups;
    }
    return first + 4 * group + 2 * below;
  }
};

template <class Put>
AICF_DEVICE void Sums::WithPart(int part, const Put& put) const {
#pragma unroll
  for (int i = 0; i < kBlocksOfRows; ++i) {
#pragma unroll
    for (int p = 0; p < kStoreParts; ++p) {
      const int first = kColumnHalves > 1 ? 0 : p * (kStageColumns / 2);
      if (part == i * kStoreParts + p) put(PartSums{d[i] + first, p});
    }
  }
}

/// Where the first sum of a pair (PartSums::Pair) belongs among the part's results, and which half
/// it is of.
struct PairPlace {
  int row, column, half;

  /// `warp` is the number of a warp of the warpgroup, which has 16 rows of sums.
  AICF_DEVICE PairPlace(int warp, int lane, int group, int below) {
    constexpr int kGroups = kPartColumns / 8;
    row = warp * kPartRows + lane / 4 + (kRowHalves > 1 ? 0 : below * 8);
    column = group % kGroups * 8 + lane % 4 * 2;
    half = kRowHalves > 1 ? below : group / kGroups;
  }
};

/// Index of a sum in the warp's memory; `inner` counts the sums of a line. The pattern permutes
/// whole groups of four sums, so that neither the stores of fragments nor the loads of runs meet in
/// one bank.
AICF_DEVICE int StorePlace(int outer, int inner) {
  const int pattern =
      kColumnsInner ? outer % 4 * 8 + (outer / 4 + inner / 32) % 2 * 4 : outer / 2 % 4 * 4;
  return outer * kStoreLine + (inner ^ (pattern & (kStoreLine - 1)));
}

/// Puts the thread's sums of one part into the warp's memory.
AICF_DEVICE void PutPart(sum_t* memory, int lane, const PartSums& sums) {
#pragma unroll
  for (int g = 0; g < kStageColumns / 8; ++g) {
#pragma unroll
    for (int below = 0; below < 2; ++below) {
      const PairPlace at(0, lane, g, below);
      const sum_t* pair = sums.Pair(g, below);
      const int half = at.half * kStoreInner;
      if constexpr (kColumnsInner) {
        *reinterpret_cast<Pack<sum_t, 2>*>(memory + StorePlace(at.row, half + at.column)) = {
            pair[0], pair[1]};
      } else {
        memory[StorePlace(at.column, half + at.row)] = pair[0];
        memory[StorePlace(at.column + 1, half + at.row)] = pair[1];
      }
    }
  }
}

}  // namespace aicf
