// cuda.normalize.rows: kBlockX threads per row (a part of a warp, a warp, or more), kBlockY rows
// per block; neighbouring threads walk the normalised axes.
#pragma once

#include "common/block.cuh"
#include "common/enums.cuh"

namespace aicf {

constexpr int kWidth = kDomainCount0 % kDomainVector == 0 ? kDomainVector : 1;
AICF_DEVICE int Lane() { return threadIdx.x; }
AICF_DEVICE int RowInBlock() { return threadIdx.y; }

/// Whether a block's slots are written again before every thread has met another barrier since it
/// read them: the calls for a row take turns with slots of their own, but RMS norm has one call.
constexpr bool kReused = attr_kind == kRmsNorm && kDomainCount1 > kGridX* kBlockY;

template <int kCall, class T, class Op>
AICF_DEVICE T AllLanes(T value, Op op) {
  constexpr int kWarpLanes = MinOf(kBlockX, 32);
  constexpr int kWarps = kBlockX / kWarpLanes;
#pragma unroll
  for (int step = kWarpLanes / 2; step > 0; step /= 2) value = op(value, ShuffleXor(value, step));
  if constexpr (kWarps > 1) {
    __shared__ T slots[kBlockY][kWarps];
    if constexpr (kReused) __syncthreads();
    if (Lane() % 32 == 0) slots[threadIdx.y][Lane() / 32] = value;
    __syncthreads();
    value = slots[threadIdx.y][0];
#pragma unroll
    for (int w = 1; w < kWarps; ++w) value = op(value, slots[threadIdx.y][w]);
  }
  return value;
}

}  // namespace aicf

#include "normalize/normalize.cuh"
