// The sums of a Hopper product to the epilogue. A warp turns 16 rows of its sums, a few columns at
// a time, in 4 KB of shared memory of its own, so that every thread gets neighbours along the
// output's contiguous direction whichever way the tensor cores' rows run. The expression appears
// once in the code, however many sums a thread has. Follows common/hopper_stage.cuh.
#pragma once

#include "common/hopper_stage.cuh"

namespace aicf {

constexpr int kStageRows = 16;
constexpr int kStageColumns = kColumns % 64 == 0   ? 64
                              : kColumns % 56 == 0 ? 56
                                                   : MinOf(32, kColumns);
static_assert(kColumns % kStageColumns == 0, "whole parts");
constexpr int kStoreParts = kColumns / kStageColumns;
constexpr int kWarpStoreFloats = kStageRows * 64;
static_assert(kWarpStoreFloats * 4 == kWarpStoreBytes, "the memory that the layout sets aside");

/// Whether the output is contiguous along the tensor cores' columns.
constexpr bool kColumnsInner = kSwap == kRowsInner;
static_assert(!kColumnsInner || kStageColumns != 56, "a line of results is a power of two");
constexpr int kStoreInner = kColumnsInner ? kStageColumns : kStageRows;
constexpr int kStoreOuter = kColumnsInner ? kStageRows : kStageColumns;
constexpr index_t kInnerEnd = kOutputCount0;

/// Results per store; the output's inner direction is whole runs of them.
AICF_DEVICE constexpr int RunOfResults() {
  int run = MinOf(kVector, 8);
  while (kInnerEnd % run != 0) run /= 2;
  return run;
}
constexpr int kRun = RunOfResults();

/// Place of a sum in the warp's memory. The pattern moves whole groups of four, and keeps both the
/// fragments' stores and the runs' loads off each other's banks.
AICF_DEVICE int StorePlace(int outer, int inner) {
  const int pattern =
      kColumnsInner ? outer % 4 * 8 + (outer / 4 + inner / 32) % 2 * 4 : outer / 2 % 4 * 4;
  return outer * kStoreInner + (inner ^ (pattern & (kStoreInner - 1)));
}

/// Puts the thread's sums of one part, d[0 .. kStageColumns / 2), into the warp's memory.
AICF_DEVICE void PutPart(float* memory, int lane, const float* d) {
#pragma unroll
  for (int g = 0; g < kStageColumns / 8; ++g) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = lane / 4 + half * 8, column = 8 * g + lane % 4 * 2;
      const float* pair = d + 4 * g + 2 * half;
      if constexpr (kColumnsInner) {
        *reinterpret_cast<Pack<float, 2>*>(memory + StorePlace(row, column)) = {pair[0], pair[1]};
      } else {
        memory[StorePlace(column, row)] = pair[0];
        memory[StorePlace(column + 1, row)] = pair[1];
      }
    }
  }
}

/// Stores kRun results that lie at (outer, inner) of the part in the warp's memory.
AICF_DEVICE void StoreRunOfPart(const Args& args, const float* memory, int outer, int inner,
                                index_t i0, index_t i1, index_t batch) {
  constexpr int kPiece = MinOf(kRun, 4);
  raw_t raw[kRun];
#pragma unroll
  for (int j = 0; j < kRun; j += kPiece) {
    const float* from = memory + StorePlace(outer, inner + j);
    const Pack<float, kPiece> piece = *reinterpret_cast<const Pack<float, kPiece>*>(from);
#pragma unroll
    for (int i = 0; i < kPiece; ++i) raw[j + i] = piece.v[i];
  }
  Epilogue::Store<kRun>(args, raw, i0, i1, batch);
}

/// Stores the part in the warp's memory: its lines are outer0 and on, and begin at the output's
/// inner0. place(line) is the line's index in the output, below 0 for none.
template <class Place>
AICF_DEVICE void StorePart(const Args& args, const float* memory, int lane, const Place& place,
                           index_t outer0, index_t inner0, index_t batch) {
  constexpr int kLanes = MinOf(32, kStoreInner / kRun);  // of one line, at a time
  constexpr int kLines = 32 / kLanes;                    // at a time
  constexpr bool kPairLines = kColumnsInner && kStoreInner == 32 && kLanes == 4;
  const int line = kPairLines ? lane / 8 + lane / 4 % 2 * 4 : lane / kLanes;
#pragma unroll
  for (int first = 0; first < kStoreOuter; first += kLines) {
#pragma unroll
    for (int start = 0; start < kStoreInner; start += kLanes * kRun) {
      const int outer = first + line, inner = start + lane % kLanes * kRun;
      const index_t i0 = inner0 + inner, i1 = place(outer0 + outer);
      if (outer < kStoreOuter && i0 < kInnerEnd && i1 >= 0) {
        StoreRunOfPart(args, memory, outer, inner, i0, i1, batch);
      }
    }
  }
}

/// One warpgroup's sums: kBlocksOfRows blocks of 64 rows.
struct Sums {
  float d[kBlocksOfRows][kColumns / 2];

  AICF_DEVICE void Hold() {
#pragma unroll
    for (int i = 0; i < kBlocksOfRows; ++i) {
#pragma unroll
      for (int j = 0; j < kColumns / 2; ++j) HoldSum(d[i][j]);
    }
  }
  /// `memory` is the warp's; the warpgroup's first sum is of (row0, column0) of the tensor cores,
  /// counted as place() does along the output's outer direction, in the output along the inner one.
  template <class Place>
  AICF_DEVICE void Store(const Args& args, float* memory, const Place& place, index_t row0,
                         index_t column0, index_t batch) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int warp_row = static_cast<int>(threadIdx.x) / 32 % 4 * kStageRows;
#pragma unroll 1
    for (int part = 0; part < kBlocksOfRows * kStoreParts; ++part) {
      __syncwarp();
#pragma unroll
      for (int i = 0; i < kBlocksOfRows; ++i) {
#pragma unroll
        for (int p = 0; p < kStoreParts; ++p) {
          if (part == i * kStoreParts + p) PutPart(memory, lane, d[i] + p * (kStageColumns / 2));
        }
      }
      __syncwarp();
      const index_t row = row0 + part / kStoreParts * 64 + warp_row;
      const index_t column = column0 + part % kStoreParts * kStageColumns;
      StorePart(args, memory, lane, place, kColumnsInner ? row : column,
                kColumnsInner ? column : row, batch);
    }
  }
};

}  // namespace aicf
