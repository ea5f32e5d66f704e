// cuda.normalize.columns: neighbouring threads (x) take neighbouring groups, threads along y share
// one. For normalisation over an axis that is not the contiguous one.
#pragma once

#include "common/block.cuh"

namespace aicf {

constexpr int kRowLanes = kLanes;
constexpr int kRowsPerBlock = kBlockX;
constexpr int kWidth = 1;
constexpr int kMostKept = 32;
constexpr bool kMerges = false;
AICF_DEVICE int Lane() { return threadIdx.y; }
AICF_DEVICE int RowInBlock() { return threadIdx.x; }
AICF_DEVICE void Finish() {}

template <int kCall, class T, class Op>
AICF_DEVICE T AllLanes(T value, Op op) {
  if constexpr (kBlockY > 1) {
    __shared__ T slots[kBlockY][kBlockX];
    __syncthreads();  // the slots may still be read for the previous value
    slots[threadIdx.y][threadIdx.x] = value;
    __syncthreads();
    value = slots[0][threadIdx.x];
#pragma unroll
    for (int y = 1; y < kBlockY; ++y) value = op(value, slots[y][threadIdx.x]);
  }
  return value;
}

}  // namespace aicf

#include "normalize/normalize.cuh"
