// cuda.normalize.rows: kBlockX threads per row (a part of a warp, a warp, or more), kBlockY rows
// per block; neighbouring threads walk the normalised axes. With kClusterX > 1 the blocks of a
// cluster share one row and exchange their partial results for it through their shared memory.
#pragma once

#include "common/block.cuh"
#include "common/enums.cuh"

namespace aicf {

static_assert(kClusterX == 1 || kBlockY == 1, "a cluster works on one row");
constexpr int kRowLanes = kLanes * kClusterX;
constexpr int kMostKept = 32;
constexpr bool kMerges = false;
constexpr int kWidth = kDomainCount0 % kDomainVector == 0 ? kDomainVector : 1;
AICF_DEVICE int Lane() {
  return static_cast<int>(blockIdx.x) % kClusterX * kBlockX + static_cast<int>(threadIdx.x);
}
AICF_DEVICE int RowInBlock() { return threadIdx.y; }

/// Whether a block could overwrite its slots before all threads that read them have passed another
/// barrier, so that one more is needed. The two calls of AllLanes for a row have slots of their own
/// and so take turns, but RMS norm makes only one call.
constexpr bool kReused = attr_kind == kRmsNorm && kDomainCount1 > kGridX / kClusterX* kBlockY;

template <class T, class Op>
AICF_DEVICE T AllOfWarp(T value, Op op) {
#pragma unroll
  for (int step = MinOf(kBlockX, 32) / 2; step > 0; step /= 2) {
    value = op(value, ShuffleXor(value, step));
  }
  return value;
}

/// Combines the values of the cluster's blocks by op. REQUIRES that all threads of a block have the
/// same value.
template <int kCall, class T, class Op>
AICF_DEVICE T AllOfCluster(T value, Op op) {
  T* const slot = reinterpret_cast<T*>(DynamicShared() + kCall * sizeof(double));
  if (threadIdx.x == 0) *slot = value;
  ClusterSharedBarrier();
  value = LoadCluster(slot, 0);
#pragma unroll
  for (int rank = 1; rank < kClusterX; ++rank) value = op(value, LoadCluster(slot, rank));
  return value;
}

template <int kCall, class T, class Op>
AICF_DEVICE T AllLanes(T value, Op op) {
  constexpr int kWarps = kBlockX / MinOf(kBlockX, 32);
  value = AllOfWarp(value, op);
  if constexpr (kReused && kClusterX > 1) ClusterSharedBarrier();
  if constexpr (kWarps > 1) {
    __shared__ T slots[kBlockY][kWarps];
    if constexpr (kReused && kClusterX == 1) __syncthreads();
    if (threadIdx.x % 32 == 0) slots[threadIdx.y][threadIdx.x / 32] = value;
    __syncthreads();
    value = slots[threadIdx.y][0];
#pragma unroll
    for (int w = 1; w < kWarps; ++w) value = op(value, slots[threadIdx.y][w]);
  }
  if constexpr (kClusterX > 1) value = AllOfCluster<kCall>(value, op);
  return value;
}

/// A block must not exit while other blocks may still read its shared memory.
AICF_DEVICE void Finish() {
  if constexpr (kClusterX > 1) LeaveCluster();
}

}  // namespace aicf

#include "normalize/normalize.cuh"
