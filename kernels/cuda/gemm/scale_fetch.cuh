// How scales of blocks come beside their stages (gemm/block_scales.cuh): warps of the producer read
// them by ordinary loads, in whatever order they lie.
#pragma once

#include "gemm/block_scales.cuh"

namespace aicf {

/// Some of the scales of one stage for the block's tile: those that one thread fetches.
template <class Scales>
struct ScalesOfThread {
  static constexpr int kThreads = 32 * Scales::kWarps;
  static constexpr int kEach = (Scales::kFloats - 1) / kThreads + 1;

  float v[kEach];

  static AICF_DEVICE int Thread() {
    return static_cast<int>(threadIdx.x) - (kWarpgroup - kThreads);
  }
  template <class View>
  static AICF_DEVICE const float* OfBatch(const void* scales, index_t batch) {
    const Point point = OutputPoint(0, 0, batch);
    index_t at = View::kOffset;
    for (int d = 0; d < kAxisM; ++d) at += point.c[d] * View::stride(d);
    return static_cast<const float*>(scales) + at;
  }
  /// Rows and columns beyond the last have sums of zeros: any scale will do.
  AICF_DEVICE void Load(const Args& args, const TileWalk& walk, index_t step) {
    const float* a = OfBatch<ScalesOfA>(args.in[kScalesInput], walk.batch);
    const float* b = OfBatch<ScalesOfB>(args.in[kScalesInput + 1], walk.batch);
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
      const int i = Thread() + j * kThreads;
      if (i < kTileM) {
        const index_t row = MinOf(walk.row0 + i, kM - 1);
        v[j] = a[row * ScalesOfA::stride(kAxisM) + step * ScalesOfA::stride(kAxisN)];
      } else if (i < Scales::kFloats) {
        const index_t column = walk.column0 + index_t(i - kTileM) * (kTileN / Scales::kOfB);
        const index_t block = MinOf(column / Scales::kOfColumns, ScalesOfB::extent(kAxisN) - 1);
        v[j] = b[step * ScalesOfB::stride(kAxisM) + block * ScalesOfB::stride(kAxisN)];
      }
    }
  }
  AICF_DEVICE void Store(float* stage) const {
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
      const int i = Thread() + j * kThreads;
      if (i < Scales::kFloats) stage[i] = v[j];
    }
  }
};

/// Three warps of the producer: the scales of all stages of all the block's tiles. Those of the
/// next stage are on their way while this one's place is awaited.
template <class Scales>
AICF_DEVICE void FetchScales(const Args& args, const SharedLayout& shared) {
  const StepRange steps;
  RingPlace place;
  ScalesOfThread<Scales> next;
  TileWalk walk;
  if (walk.Valid()) next.Load(args, walk, steps.first);
  while (walk.Valid()) {
    TileWalk following = walk;
    following.Next();
#pragma unroll 1
    for (index_t step = steps.first; step < steps.end; ++step, place.Next()) {
      const ScalesOfThread<Scales> now = next;
      if (step + 1 < steps.end)
        next.Load(args, walk, step + 1);
      else if (following.Valid())
        next.Load(args, following, steps.first);
      BarrierWait(shared.Empty(place.stage), place.parity ^ 1);
      now.Store(shared.Scales(place.stage));
      __syncwarp();
      if (threadIdx.x % 32 == 0) BarrierArrive(shared.Full(place.stage));
    }
    walk = following;
  }
}

}  // namespace aicf
