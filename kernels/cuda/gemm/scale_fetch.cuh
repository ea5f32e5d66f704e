// How scales of blocks come to lie beside their stages (gemm/block_scales.cuh). Where they are
// lines of memory, the thread that asks for A asks the copy engine for them. Otherwise warps of the
// producer copy them element by element, whatever their layout in memory. A thread's copies arrive
// at the stage's barrier by themselves when they have landed. The thread does not wait for them, so
// that the copies for all free stages are under way at the same time.
#pragma once

#include "gemm/block_scales.cuh"

namespace aicf {

template <class View>
AICF_DEVICE const float* ScalesOfBatch(const void* scales, index_t batch) {
  const Point point = OutputPoint(0, 0, batch);
  index_t at = View::kOffset;
  for (int d = 0; d < kAxisM; ++d) at += point.c[d] * View::stride(d);
  return static_cast<const float*>(scales) + at;
}

/// The index among the scales of B of the one that a column has. A column beyond the last has that
/// of the last.
template <class Scales>
AICF_DEVICE index_t BlockOfColumn(index_t column) {
  return MinOf(column / Scales::kOfColumns, ScalesOfB::extent(kAxisN) - 1);
}

/// The scales of a tile that one thread copies. `from` has their places for the first step of k, to
/// which Copy adds the offset of a later step.
template <class Scales>
struct ScalesOfThread {
  static constexpr int kThreads = 32 * Scales::kWarps;
  static constexpr int kEach = (Scales::kFloats - 1) / kThreads + 1;

  const float* from[kEach];

  static AICF_DEVICE int Thread() {
    return static_cast<int>(threadIdx.x) - (kWarpgroup - kThreads);
  }
  /// Rows and columns beyond the last have sums of zeros, so any scale will do for them: they get
  /// the last one.
  AICF_DEVICE ScalesOfThread(const Args& args, const TileWalk& walk) {
    const float* a = ScalesOfBatch<ScalesOfA>(args.in[kScalesInput], walk.batch);
    const float* b = ScalesOfBatch<ScalesOfB>(args.in[kScalesInput + 1], walk.batch);
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
      const int i = Thread() + j * kThreads;
      const index_t row = MinOf(walk.row0 + i, kM - 1);
      const index_t column = walk.column0 + index_t(i - kTileM) * (kTileN / Scales::kOfB);
      const index_t block = BlockOfColumn<Scales>(column);
      from[j] =
          i < kTileM ? a + row * ScalesOfA::stride(kAxisM) : b + block * ScalesOfB::stride(kAxisN);
    }
  }
  AICF_DEVICE void Copy(float* stage, index_t step) const {
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
      const int i = Thread() + j * kThreads;
      const index_t at =
          step * (i < kTileM ? ScalesOfA::stride(kAxisN) : ScalesOfB::stride(kAxisM));
      if (i < Scales::kFloats) CopyAsync<4>(stage + i, from[j] + at, true);
    }
  }
};

/// The work of three warps of the producer: they copy the scales for all steps of all the block's
/// tiles.
template <class Scales>
AICF_DEVICE void FetchScales(const Args& args, const SharedLayout& shared) {
  const StepRange steps;
  RingPlace place;
  for (TileWalk walk; walk.Valid(); walk.Next()) {
    const ScalesOfThread<Scales> scales(args, walk);
#pragma unroll 1
    for (index_t step = steps.first; step < steps.end; ++step, place.Next()) {
      BarrierWait(shared.Empty(place.stage), place.parity ^ 1);
      scales.Copy(shared.Scales(place.stage), step);
      BarrierArriveAfterCopies(shared.Full(place.stage));
    }
  }
}

/// Fetch (gemm/hopper.cuh) where scales are lines of memory (BlockScales::kLines): one copy brings
/// those of the tile's rows, and one those of its columns where each column has its own. Scales of
/// blocks of columns are a few numbers, which the thread copies itself. Rows and columns beyond the
/// last get no scales: in their place is what was there before, even NaN, which reaches no sums but
/// those of these rows and columns, and they are never stored.
template <class Layout, class Operands>
struct FetchWithScales : Operands {
  const float *a, *b;
  int rows, columns;  ///< of the tile that have scales
  static constexpr int kBlocks = Layout::kByColumn ? 1 : Layout::kOfB;
  index_t block[kBlocks];  ///< from b to the scale of each run of columns, or of the first column

  AICF_DEVICE FetchWithScales(const Args& args, const TileWalk& walk, index_t step)
      : Operands(args, walk, step),
        a(ScalesOfBatch<ScalesOfA>(args.in[kScalesInput], walk.batch) + walk.row0 +
          step * ScalesOfA::stride(kAxisN)),
        b(ScalesOfBatch<ScalesOfB>(args.in[kScalesInput + 1], walk.batch) +
          step * ScalesOfB::stride(kAxisM)),
        rows(static_cast<int>(MinOf(kM - walk.row0, index_t(kTileM)))),
        columns(static_cast<int>(MinOf(kN - walk.column0, index_t(kTileN)))) {
#pragma unroll
    for (int j = 0; j < kBlocks; ++j) {
      block[j] = BlockOfColumn<Layout>(walk.column0 + index_t(j) * Layout::kRun) *
                 ScalesOfB::stride(kAxisN);
    }
  }
  AICF_DEVICE void Next() {
    Operands::Next();
    a += ScalesOfA::stride(kAxisN);
    b += ScalesOfB::stride(kAxisM);
  }
  AICF_DEVICE void Scales(float* stage, unsigned barrier) const {
    float* of_columns = stage + kTileM;
    if constexpr (Layout::kByColumn) {
      BarrierArriveExpect(barrier, (rows + columns) * 4);
      CopyLine(SharedAddress(of_columns), b + block[0], columns * 4, barrier);
    } else {
      BarrierExpect(barrier, rows * 4);
#pragma unroll
      for (int j = 0; j < kBlocks; ++j) CopyAsync<4>(of_columns + j, b + block[j], true);
      BarrierArriveAfterCopies(barrier);
    }
    CopyLine(SharedAddress(stage), a, rows * 4, barrier);
  }
};

}  // namespace aicf
