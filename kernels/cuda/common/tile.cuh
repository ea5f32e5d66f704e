// Computes and stores one output tile of a product. Both operands go through a ring of kStages
// tiles in shared memory, which is filled ahead of the sums. The sums then go through shared memory
// to the epilogue, so that results leave in whole vectors along the output's contiguous axis
// whatever the layout. With kClusterX > 1 the blocks of a cluster share out k, and each finishes a
// part of the tile from the sums of all of them, added in the order of the blocks. To be included
// after tile_ffma.cuh or tile_mma.cuh.
#pragma once

#include "common/block.cuh"
#include "common/loader.cuh"

namespace aicf {

constexpr int kPitchA = kTileK + kPadA;
constexpr int kPitchB = kTileN + kPadB;
constexpr int kStageElements = kTileM * kPitchA + kTileK * kPitchB;
/// The finished tile in shared memory, contiguous in the output's inner direction. With two halves
/// (kProductHalves) its columns are those of one half followed by those of the other, and it has
/// half as many columns of results.
constexpr int kInnerTile = kRowsInner ? kTileM : kTileN;
constexpr int kOuterTile = kRowsInner ? kTileN : kTileM;
constexpr int kPitchC = kInnerTile + 4;
constexpr int kResultColumns = kTileN / kProductHalves;
constexpr int kInnerResults = kRowsInner ? kTileM : kResultColumns;
constexpr int kOuterResults = kRowsInner ? kResultColumns : kTileM;
static_assert(kResultColumns * kProductHalves == kTileN, "whole halves");
/// Results per store: the tile is whole runs of them.
AICF_DEVICE constexpr int RunOfTile() {
  int run = kVector;
  while (kInnerResults % run != 0) run /= 2;
  return run;
}
constexpr int kRun = RunOfTile();
constexpr int kTileBytes = MaxOf(kStages * kStageElements * static_cast<int>(sizeof(tile_t)),
                                 kSplit* kOuterTile* kPitchC* static_cast<int>(sizeof(acc_t)));
static_assert(kBlockX == kTileThreads, "the launch has the tile's threads");
static_assert(kDynamicShared >= kTileBytes, "the launch has the tile's shared memory");

/// Tiles along an extent; one for an empty extent, so that indices can be divided by it.
AICF_DEVICE constexpr index_t TilesIn(index_t extent, int tile) {
  return extent > 0 ? (extent - 1) / tile + 1 : 1;
}

constexpr int kParts = kClusterX;
AICF_DEVICE index_t TileOfBlock() { return static_cast<index_t>(blockIdx.x) / kParts; }
AICF_DEVICE int PartOfBlock() { return static_cast<int>(blockIdx.x) % kParts; }

/// Sums of the tile at (row0, column0) over this block's part of k in [0, length).
template <class LoaderA, class LoaderB, class A, class B>
AICF_DEVICE void ComputeTile(const A& a, const B& b, index_t row0, index_t column0, index_t length,
                             TileSums& sums) {
  tile_t* memory = reinterpret_cast<tile_t*>(DynamicShared());
  const int thread = threadIdx.x;
  const int all = static_cast<int>((length + kTileK - 1) / kTileK);
  const int share = (all + kParts - 1) / kParts;
  const int first = PartOfBlock() * share;
  const int left = all - first;
  const int steps = left < share ? left : share;  // below 1 where nothing is left
  LoaderA load_a;
  LoaderB load_b;
  load_a.Init(a, thread, row0);
  load_b.Init(b, thread, column0);
  auto stage = [&](int s) { return memory + s % kStages * kStageElements; };
  auto fetch = [&](int s) {
    if (s < steps) {
      load_a.Fetch(a, thread, static_cast<index_t>(first + s) * kTileK, stage(s));
      load_b.Fetch(b, thread, static_cast<index_t>(first + s) * kTileK,
                   stage(s) + kTileM * kPitchA);
    }
  };
  auto commit = [&](int s) {
    if (s < steps) {
      load_a.Commit(thread, stage(s));
      load_b.Commit(thread, stage(s) + kTileM * kPitchA);
    }
    CopyCommit();
  };
#pragma unroll
  for (int s = 0; s < kStages - 1; ++s) {
    fetch(s);
    commit(s);
  }
  sums.Clear();
  for (int s = 0; s < steps; ++s) {
    CopyWait<kStages - 2>();
    __syncthreads();
    // The slot refilled now was last read in the previous step, which every thread has left.
    fetch(s + kStages - 1);
    sums.Accumulate(thread, stage(s), stage(s) + kTileM * kPitchA);
    commit(s + kStages - 1);
  }
  CopyWait<0>();
  __syncthreads();
}

/// The sum at one place of the tile over all parts of k: those of the cluster's blocks, and within
/// each block those of its groups of threads.
AICF_DEVICE acc_t TileSum(const acc_t* c, int outer, int inner) {
  acc_t sum = acc_t(0);
#pragma unroll
  for (int part = 0; part < kParts; ++part) {
#pragma unroll
    for (int g = 0; g < kSplit; ++g) {
      const acc_t* own = c + (g * kOuterTile + outer) * kPitchC + inner;
      if constexpr (kParts > 1)
        sum = sum + LoadCluster(own, part);
      else
        sum = sum + *own;
    }
  }
  return sum;
}

template <int V>
AICF_DEVICE void StoreTileRun(const Args& args, const acc_t* c, int outer, int inner, index_t i0,
                              index_t i1, index_t i2) {
  raw_t raw[kProductHalves * V];
#pragma unroll
  for (int half = 0; half < kProductHalves; ++half) {
    const int column = half * kResultColumns;
#pragma unroll
    for (int j = 0; j < V; ++j) {
      raw[half * V + j] = OpCast<raw_t>(
          TileSum(c, outer + (kRowsInner ? column : 0), inner + j + (kRowsInner ? 0 : column)));
    }
  }
  Epilogue::Store<V>(args, raw, i0, i1, i2);
}

/// The `place` of a product whose rows are the output's: row r has index r.
struct RowInPlace {
  static constexpr bool kIdentity = true;
  AICF_DEVICE index_t operator()(index_t row) const { return row; }
};

/// Stores the run of kRun neighbouring results that starts at (outer, inner) of the tile.
template <class Place>
AICF_DEVICE void StoreTileVector(const Args& args, const acc_t* c, const Place& place, int outer,
                                 int inner, index_t inner0, index_t outer0, index_t inner_end,
                                 index_t i2) {
  const index_t i0 = inner0 + inner;
  const index_t i1 = kRowsInner ? outer0 + outer : place(outer0 + outer);
  if (i1 < 0) return;
  if ((!kRowsInner || Place::kIdentity) && i0 + kRun <= inner_end && i0 % kRun == 0) {
    StoreTileRun<kRun>(args, c, outer, inner, i0, i1, i2);
    return;
  }
  for (int j = 0; j < kRun && i0 + j < inner_end; ++j) {
    const index_t at = kRowsInner ? place(i0 + j) : i0 + j;
    if (at >= 0) StoreTileRun<1>(args, c, outer, inner + j, at, i1, i2);
  }
}

/// Applies the epilogue to the tile whose rows and columns of results start at (row0, column0) and
/// end before (rows, columns). place(row) is the row's index in the output, below 0 for none.
template <class Place>
AICF_DEVICE void StoreTile(const Args& args, const TileSums& sums, const Place& place, index_t row0,
                           index_t column0, index_t rows, index_t columns, index_t i2) {
  acc_t* c = reinterpret_cast<acc_t*>(DynamicShared());
  const int thread = threadIdx.x;
  sums.Visit(thread, [&](int group, int row, int column, acc_t sum) {
    const int outer = kRowsInner ? column : row;
    const int inner = kRowsInner ? row : column;
    c[(group * kOuterTile + outer) * kPitchC + inner] = sum;
  });
  if constexpr (kParts > 1)
    ClusterSharedBarrier();
  else
    __syncthreads();
  const index_t inner0 = kRowsInner ? row0 : column0, outer0 = kRowsInner ? column0 : row0;
  const index_t inner_end = kRowsInner ? rows : columns, outer_end = kRowsInner ? columns : rows;
  constexpr int kRuns = kInnerResults / kRun;
  for (int e = PartOfBlock() * kBlockX + thread; e < kRuns * kOuterResults; e += kParts * kBlockX) {
    const int inner = e % kRuns * kRun, outer = e / kRuns;
    if (outer0 + outer >= outer_end || inner0 + inner >= inner_end) continue;
    StoreTileVector(args, c, place, outer, inner, inner0, outer0, inner_end, i2);
  }
  // A block must not end while other blocks may still read its shared memory.
  if constexpr (kParts > 1) LeaveCluster();
}

}  // namespace aicf
