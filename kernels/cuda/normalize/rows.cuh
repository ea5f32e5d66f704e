// cuda.normalize.rows: kBlockX threads per row (a part of a warp, a warp, or more), kBlockY rows
// per block; neighbouring threads walk the normalised axes.
#pragma once

#include "common/block.cuh"

namespace aicf {

constexpr int kWidth = kDomainCount0 % kDomainVector == 0 ? kDomainVector : 1;
AICF_DEVICE int Lane() { return threadIdx.x; }
AICF_DEVICE int RowInBlock() { return threadIdx.y; }

template <class T, class Op>
AICF_DEVICE T AllLanes(T value, Op op) {
  constexpr int kWarpLanes = MinOf(kBlockX, 32);
  constexpr int kWarps = kBlockX / kWarpLanes;
#pragma unroll
  for (int step = kWarpLanes / 2; step > 0; step /= 2) value = op(value, ShuffleXor(value, step));
  if constexpr (kWarps > 1) {
    __shared__ T slots[kBlockY][kWarps];
    __syncthreads();  // the slots may still be read for the previous value
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
