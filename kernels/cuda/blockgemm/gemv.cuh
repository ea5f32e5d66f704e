// cuda.blockgemm.gemv: the product for few rows of A, where reading B takes all the time. B is
// packed (blockgemm/packed.h). A warp multiplies panels of 16 rows of B, chunk by chunk, on tensor
// cores: B's rows are the rows of the fragments, A's rows their columns. Every warp has its own
// ring of kStages chunks in shared memory. It fills the ring by asynchronous copies ahead of the
// products and, with kAhead, even before it waits for the preceding kernel.
//
// The chunks of a panel are shared out among kAlongK warps of a block, and those of all panels
// among the kClusterX blocks of a cluster. The partial sums meet in shared memory and are added in
// a fixed order. Blocks walk through the panels in strides of the grid, while the rows of A stay in
// shared memory.
//
// An element of B is scale * 2^b * (number - kCentre) - minimum, where `number` is what
// fragments.cuh makes of its code. So a group's sum is scale * 2^b * (-kCentre * sum(x) +
// sum(x * number)) - minimum * sum(x). The factor 2^b is applied once at the end. The four lanes of
// a row share out the groups whose minimum * sum(x) is subtracted.
#pragma once

#include "common/block.cuh"
#include "common/blocks.cuh"

#include "blockgemm/vectors.cuh"

#define AICF_KERNEL_WAITS

namespace aicf {

constexpr int kPanelWarps = kWarps / kAlongK;
constexpr int kResultPanels = kPanelWarps;
static_assert(kBlockX == 32 * kWarps && kWarps % kAlongK == 0, "warps share panels evenly");

constexpr int kRingBytes = kStages * Chunk::kBytes;
/// Sums of one row of a panel: one for every column of the fragments and, in formats with minimums,
/// one correction for every row of A.
constexpr int kCells = kXColumns + (kHasMinimum ? kM : 0);
constexpr int kCellsBytes = 16 * kCells * 4;
constexpr int kRingAt = kXBytes + kSumsBytes;
constexpr int kCellsAt = kRingAt + kWarps * kRingBytes;
static_assert(kDynamicShared >= kCellsAt + 2 * kWarps * kCellsBytes, "the launch has the memory");

/// Clusters of the grid, groups of panels that a cluster works on at once, turns that a cluster
/// takes to walk through them, and the most chunks (steps) of a warp in a turn.
constexpr index_t kClusters = kGridX / kParts;
constexpr index_t kPanelGroups = (kPanels + kPanelWarps - 1) / kPanelWarps;
constexpr index_t kTurns = (kPanelGroups + kClusters - 1) / kClusters;
constexpr index_t kSteps = (kPartChunks + kAlongK - 1) / kAlongK;

/// One of a warp's chunks, and the stage of the ring that holds it.
struct Place {
  index_t turn = 0, step = 0;
  int stage = 0;

  AICF_DEVICE void Next() {
    stage = stage + 1 == kStages ? 0 : stage + 1;
    if (++step < kSteps) return;
    step = 0;
    ++turn;
  }
};

struct Warp {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int number = static_cast<int>(threadIdx.x) / 32;
  const int part = static_cast<int>(blockIdx.x) % kParts;
  const index_t cluster = static_cast<index_t>(blockIdx.x) / kParts;

  AICF_DEVICE index_t Chunk0() const { return part * kPartChunks; }
  AICF_DEVICE index_t PanelOf(index_t turn, int of_block) const {
    return (cluster + turn * kClusters) * kPanelWarps + of_block;
  }
  AICF_DEVICE index_t Panel(index_t turn) const { return PanelOf(turn, number / kAlongK); }
  /// The warp's chunk of a step, counted within its block's part of k.
  AICF_DEVICE index_t ChunkOfStep(index_t step) const { return step * kAlongK + number % kAlongK; }
  AICF_DEVICE bool Has(index_t turn, index_t step) const {
    const index_t chunk = ChunkOfStep(step);
    return Panel(turn) < kPanels && chunk < kPartChunks && Chunk0() + chunk < kChunks;
  }
  AICF_DEVICE char* Stage(int stage) const {
    return DynamicShared() + kRingAt + number * kRingBytes + stage * Chunk::kBytes;
  }
  AICF_DEVICE float* Cells(index_t turn, int warp) const {
    return reinterpret_cast<float*>(DynamicShared() + kCellsAt +
                                    (static_cast<int>(turn % 2) * kWarps + warp) * kCellsBytes);
  }

  /// Starts copying the chunk of `place` into its stage. Copies nothing beyond the last turn.
  AICF_DEVICE void Fetch(const void* packed, const Place& place) const {
    if (place.turn < kTurns && Has(place.turn, place.step)) {
      const char* from =
          ChunkAt(packed, Panel(place.turn), Chunk0() + ChunkOfStep(place.step)) + lane * 16;
      char* to = Stage(place.stage) + lane * 16;
#pragma unroll
      for (int at = 0; at < Chunk::kBytes; at += 512) {
        if (at + 512 <= Chunk::kBytes || at + lane * 16 < Chunk::kBytes) {
          CopyAsync<16>(to + at, from + at, true);
        }
      }
    }
    CopyCommit();
  }
};

/// A lane's sums for one panel: those of its two rows of B in its columns of the fragments, and its
/// share of their corrections.
struct Sums {
  float sum[kColumnTiles][4];
  float correction[2][kM];

  AICF_DEVICE void Clear() {
#pragma unroll
    for (int tile = 0; tile < kColumnTiles; ++tile) {
#pragma unroll
      for (int e = 0; e < 4; ++e) sum[tile][e] = 0.0f;
    }
#pragma unroll
    for (int m = 0; m < kM; ++m) correction[0][m] = correction[1][m] = 0.0f;
  }

  /// Adds the products of elements 4 * half to 4 * half + 3 of the lane's eight of a run to c.
  static AICF_DEVICE void Multiply(const LaneCodes& codes, int run, int half,
                                   const u32 (&x)[kColumnTiles][4], float (&c)[kColumnTiles][4]) {
    u32 pairs[4][kTerms];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      PairOfB(codes, (run * 2 + i % 2) * 4 + half * 2 + i / 2, pairs[i]);
    }
#pragma unroll
    for (int term = 0; term < kTerms; ++term) {
      const u32 a[4] = {pairs[0][term], pairs[1][term], pairs[2][term], pairs[3][term]};
#pragma unroll
      for (int tile = 0; tile < kColumnTiles; ++tile) {
        const u32 b[2] = {x[tile][2 * half], x[tile][2 * half + 1]};
        MultiplyPairs(c[tile], a, b);
      }
    }
  }

  /// total += scale * c for each of the lane's two rows, in those columns that exist.
  static AICF_DEVICE void AddScaled(float scale0, float scale1, const float (&c)[kColumnTiles][4],
                                    float (&total)[kColumnTiles][4]) {
#pragma unroll
    for (int tile = 0; tile < kColumnTiles; ++tile) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        if (tile * 8 + e % 2 >= kXColumns) continue;
        total[tile][e] = fmaf(e < 2 ? scale0 : scale1, c[tile][e], total[tile][e]);
      }
    }
  }

  AICF_DEVICE void Correct(const char* scales, int group0, int lane) {
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
      const float* of_group = SharedSums() + (group0 + lane % 4 * kOwn + i) * kM;
      float x[kM];
#pragma unroll
      for (int m = 0; m < kM; ++m) x[m] = of_group[m];
#pragma unroll
      for (int row = 0; row < 2; ++row) {
        const GroupScale pair = Scales::Pair(scales, lane / 4 + 8 * row, lane % 4, i);
#pragma unroll
        for (int m = 0; m < kM; ++m)
          correction[row][m] = fmaf(pair.minimum, x[m], correction[row][m]);
      }
    }
  }

  /// Adds the products of one run of a chunk, in formats whose elements have scales.
  static AICF_DEVICE void AddRun(const LaneCodes& codes, const Scales (&scales)[2], int run0,
                                 int run, int lane, const u32 (&x)[kColumnTiles][4],
                                 float (&total)[kColumnTiles][4]) {
    constexpr int kOfRun = Chunk::kGroup == 16 ? 2 : 1;
#pragma unroll
    for (int i = 0; i < kOfRun; ++i) {
      float c[kColumnTiles][4];
      LoadStarts((run0 + run) * kOfRun + i, lane, c);
      Multiply(codes, run, i, x, c);
      if constexpr (kOfRun == 1) Multiply(codes, run, 1, x, c);
      const int group = run * kOfRun + i;
      AddScaled(scales[0].Scale(group), scales[1].Scale(group), c, total);
    }
  }

  /// Adds the products of one chunk. `run0` is its first run, counted within the block's part of x.
  AICF_DEVICE void AddChunk(const char* chunk, int run0, int lane) {
    const LaneCodes codes(chunk, lane);
    const char* of_groups = chunk + Chunk::kCodesBytes;
    const Scales scales[2] = {{of_groups, lane / 4}, {of_groups, lane / 4 + 8}};
    float of_chunk[kColumnTiles][4] = {};
#pragma unroll
    for (int run = 0; run < Chunk::kRuns; ++run) {
      u32 x[kColumnTiles][4];
      LoadX(run0 + run, lane, x);
      if constexpr (Chunk::kGroups == 0) {
        Multiply(codes, run, 0, x, sum);
        Multiply(codes, run, 1, x, sum);
      } else if constexpr (Scales::kFactored) {
        AddRun(codes, scales, run0, run, lane, x, of_chunk);
      } else {
        AddRun(codes, scales, run0, run, lane, x, sum);
      }
    }
    if constexpr (Scales::kFactored) {
      AddScaled(scales[0].Factor(), scales[1].Factor(), of_chunk, sum);
    }
    if constexpr (kHasMinimum) {
      Correct(of_groups, run0 / Chunk::kRuns * Chunk::kGroups, lane);
    }
  }

  /// Stores the sums into the warp's cells.
  AICF_DEVICE void Store(float* cells, int lane) {
#pragma unroll
    for (int tile = 0; tile < kColumnTiles; ++tile) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int column = tile * 8 + lane % 4 * 2 + e % 2;
        if (column < kXColumns) cells[(lane / 4 + e / 2 * 8) * kCells + column] = sum[tile][e];
      }
    }
    if constexpr (!kHasMinimum) return;
#pragma unroll
    for (int row = 0; row < 2; ++row) {
#pragma unroll
      for (int m = 0; m < kM; ++m) {
        float all = correction[row][m];
        all = all + ShuffleXor(all, 1);
        all = all + ShuffleXor(all, 2);
        if (lane % 4 == 0) cells[(lane / 4 + row * 8) * kCells + kXColumns + m] = all;
      }
    }
  }
};

}  // namespace aicf

// The header below uses Warp and the constants above.
#include "blockgemm/results.cuh"

namespace aicf {

/// Makes a result of its cell's sums. A row of A that consists of several parts has a sum for each
/// part. In formats with minimums one more sum is subtracted.
struct SumOfParts {
  static AICF_DEVICE float Of(const Warp& warp, index_t turn, const Cell& cell, int half) {
    const int m = static_cast<int>(cell.m);
    float total = TotalOf(warp, turn, cell, half, m * kXParts);
#pragma unroll
    for (int part = 1; part < kXParts; ++part) {
      total = total + TotalOf(warp, turn, cell, half, m * kXParts + part);
    }
    if constexpr (!kHasMinimum) return total * kUnit;
    return total * kUnit - TotalOf(warp, turn, cell, half, kXColumns + m);
  }
};

/// Starts the copies that fill all stages of the ring but one; returns the place that is to be
/// fetched next.
AICF_DEVICE Place FetchFirst(const Args& args, const Warp& warp) {
  Place ahead;
#pragma unroll
  for (int i = 0; i < kStages - 1; ++i) {
    warp.Fetch(args.in[1], ahead);
    ahead.Next();
  }
  return ahead;
}

AICF_DEVICE void Kernel(const Args& args) {
  const Warp warp;
  Place ahead;
  if constexpr (kAhead != 0) ahead = FetchFirst(args, warp);
  WaitForPredecessors();
  LetSuccessorsStart();
  if constexpr (kAhead == 0) ahead = FetchFirst(args, warp);
  StageRows(args, warp.Chunk0());
  __syncthreads();
  const Finish<SumOfParts> finish{warp};
  Place place;
  for (index_t turn = 0; turn < kTurns; ++turn) {
    Finish<SumOfParts>::Held held;
    finish.Load(args, turn, held);
    Sums sums;
    sums.Clear();
    for (index_t step = 0; step < kSteps; ++step, place.Next()) {
      CopyWait<kStages - 2>();
      // Now the copies of all lanes have arrived, and no lane still reads the stage that is filled
      // next.
      __syncwarp();
      warp.Fetch(args.in[1], ahead);
      ahead.Next();
      if (warp.Has(turn, step)) {
        sums.AddChunk(warp.Stage(place.stage),
                      static_cast<int>(warp.ChunkOfStep(step)) * Chunk::kRuns, warp.lane);
      }
    }
    sums.Store(warp.Cells(turn, warp.number), warp.lane);
    AfterStoring();
    finish.Store(args, turn, held);
  }
  // A block must not exit while other blocks of its cluster may still read its shared memory.
  if constexpr (kParts > 1) LeaveCluster();
}

}  // namespace aicf
