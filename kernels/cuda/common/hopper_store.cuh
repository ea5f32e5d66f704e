// The sums of a Hopper product to the epilogue. A warp turns 16 rows of its sums,
// a few columns at a time, in 4 KB of shared memory of its own, so that every thread gets
// neighbours along the output's contiguous direction whichever way the tensor cores' rows run. The
// expression appears once in the code, however many sums a thread has. Its operands for the next
// part are asked for as soon as those of this one are used.
#pragma once

#include "common/hopper_split.cuh"

namespace aicf {

constexpr int kStageRows = 16;
constexpr int kStageColumns = kColumns % 64 == 0   ? 64
                              : kColumns % 56 == 0 ? 56
                                                   : MinOf(32, kColumns);
static_assert(kColumns % kStageColumns == 0, "whole parts");
constexpr int kStoreParts = kColumns / kStageColumns;
constexpr int kWarpStoreFloats = kStageRows * 64;
constexpr int kSumsOfThread = kBlocksOfRows * kColumns / 2;

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

/// The runs of results of one part that a lane stores: places (outer, inner) within the part.
struct PartRuns {
  static constexpr int kLineRuns = kStoreInner / kRun;
  static constexpr int kLanes = MinOf(32, kLineRuns);  // of one line, at a time
  static constexpr int kLines = 32 / kLanes;           // at a time
  static constexpr int kTurns = kLineRuns / kLanes;    // along a line
  static constexpr int kAll = kLineRuns * kStoreOuter;
  static constexpr int kCount = kSplit > 1 ? (kAll - 1) / (32 * kSplit) + 1
                                           : ((kStoreOuter - 1) / kLines + 1) * kTurns;
  static constexpr bool kPairLines = kColumnsInner && kStoreInner == 32 && kLanes == 4;

  int outer, inner;

  AICF_DEVICE PartRuns(int lane, int i) {
    if constexpr (kSplit > 1) {
      const int run = (i * kSplit + RankInCluster()) * 32 + lane;
      outer = run / kLineRuns;
      inner = run % kLineRuns * kRun;
    } else {
      const int line = kPairLines ? lane / 8 + lane / 4 % 2 * 4 : lane / kLanes;
      outer = i / kTurns * kLines + line;
      inner = (i % kTurns * kLanes + lane % kLanes) * kRun;
    }
  }
};

/// Where a part of the sums lies: its first line, as the tile counts them (TileWalk::LineOf), and
/// its first element of a line in the output.
struct PartPlace {
  const TileWalk& tile;
  index_t outer0, inner0;

  /// The output's line of a run, below 0 where there is none.
  AICF_DEVICE index_t LineOf(const PartRuns& run) const {
    if (run.outer >= kStoreOuter || inner0 + run.inner >= kInnerEnd) return -1;
    return tile.LineOf(outer0 + run.outer);
  }
};

/// Runs whose operands of so many bytes fit the registers that the sums leave: a number that
/// divides those of a part, 0 for none.
AICF_DEVICE constexpr int RunsHeld(int bytes) {
  constexpr int kRegisters = kConsumers == 3 ? 160 : 240, kOthers = kConsumers == 3 ? 40 : 64;
  int runs = MinOf(PartRuns::kCount, 4 * (kRegisters - kOthers - kSumsOfThread) / bytes);
  while (runs > 0 && PartRuns::kCount % runs != 0) --runs;
  return MaxOf(runs, 0);
}

/// A warp's memory for its results, and what the expression reads beside the sums for the part that
/// is stored next. Operands that would take too many registers are read only when they are needed.
struct StoreMemory {
  typedef Epilogue::Operands<kRun> Operands;
  static constexpr int kHeld = kInputs > kCoreInputs ? RunsHeld(sizeof(Operands)) : 0;

  float* memory;
  PartsExchange exchange;
  Operands held[kHeld > 0 ? kHeld : 1];

  AICF_DEVICE StoreMemory(float* own, unsigned barriers) : memory(own), exchange(barriers) {}

  /// Asks for the operands of a part's first runs.
  AICF_DEVICE void Ask(const Args& args, const PartPlace& place) {
#pragma unroll
    for (int i = 0; i < kHeld; ++i) AskRun(args, place, i);
  }
  /// Stores the part whose sums are in the warp's memory; asks for the operands of the runs that
  /// come kHeld after each, in this part or in the next where there is one.
  AICF_DEVICE void StorePart(const Args& args, const PartPlace& place, const PartPlace& next,
                             bool has_next) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int i = 0; i < PartRuns::kCount; ++i) {
      const PartRuns run(lane, i);
      StoreRunOfPart(args, place, run, i);
      if constexpr (kHeld > 0) {
        constexpr int kCount = PartRuns::kCount;
        if (i + kHeld < kCount)
          AskRun(args, place, i + kHeld);
        else if (has_next)
          AskRun(args, next, i + kHeld - kCount);
      }
    }
  }

 private:
  AICF_DEVICE void AskRun(const Args& args, const PartPlace& place, int i) {
    const PartRuns run(static_cast<int>(threadIdx.x) % 32, i);
    const index_t line = place.LineOf(run);
    if (line < 0) return;
    held[i % (kHeld > 0 ? kHeld : 1)].Load(args, place.inner0 + run.inner, line, place.tile.batch);
  }
  AICF_DEVICE void StoreRunOfPart(const Args& args, const PartPlace& place, const PartRuns& run,
                                  int i) {
    constexpr int kPiece = MinOf(kRun, 4);
    const index_t i0 = place.inner0 + run.inner, i1 = place.LineOf(run);
    if (i1 < 0) return;
    raw_t raw[kRun];
#pragma unroll
    for (int j = 0; j < kRun; j += kPiece) {
      const Pack<float, kPiece> piece =
          AddParts<kPiece>(memory + StorePlace(run.outer, run.inner + j));
#pragma unroll
      for (int k = 0; k < kPiece; ++k) raw[j + k] = piece.v[k];
    }
    if constexpr (kHeld > 0)
      Epilogue::Store<kRun>(args, raw, held[i % kHeld], i0, i1, place.tile.batch);
    else
      Epilogue::Store<kRun>(args, raw, i0, i1, place.tile.batch);
  }
};

/// One warpgroup's sums: kBlocksOfRows blocks of 64 rows.
struct Sums {
  static constexpr int kParts = kBlocksOfRows * kStoreParts;

  float d[kBlocksOfRows][kColumns / 2];  // kSumsOfThread of them

  AICF_DEVICE void Hold() {
#pragma unroll
    for (int i = 0; i < kBlocksOfRows; ++i) {
#pragma unroll
      for (int j = 0; j < kColumns / 2; ++j) HoldSum(d[i][j]);
    }
  }
  /// Of a part, where the warpgroup's first sum is of row0 of the tile's rows.
  static AICF_DEVICE PartPlace PlaceOf(int part, const TileWalk& tile, int row0) {
    const int warp_row = static_cast<int>(threadIdx.x) / 32 % 4 * kStageRows;
    const index_t row = tile.FirstRow() + row0 + part / kStoreParts * 64 + warp_row;
    const index_t column = tile.FirstColumn() + part % kStoreParts * kStageColumns;
    return {tile, kColumnsInner ? row : column, kColumnsInner ? column : row};
  }
  /// `memory` is the warp's, and has been asked for the operands of part 0. Those of the next tile
  /// are not asked for here: values that a loop carries over make it wait for them.
  AICF_DEVICE void Store(const Args& args, StoreMemory& memory, const TileWalk& tile,
                         int row0) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll 1
    for (int part = 0; part < kParts; ++part) {
      memory.exchange.BeginWriting();
#pragma unroll
      for (int i = 0; i < kBlocksOfRows; ++i) {
#pragma unroll
        for (int p = 0; p < kStoreParts; ++p) {
          if (part == i * kStoreParts + p)
            PutPart(memory.memory, lane, d[i] + p * (kStageColumns / 2));
        }
      }
      memory.exchange.BeginReading();
      memory.StorePart(args, PlaceOf(part, tile, row0), PlaceOf(part + 1, tile, row0),
                       part + 1 < kParts);
      memory.exchange.EndReading();
    }
  }
};

}  // namespace aicf
