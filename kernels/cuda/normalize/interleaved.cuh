// cuda.normalize.interleaved: for groups each of which has a short run of every line in memory, as
// the groups of a group normalisation have where channels are stored next to each other. A block
// takes kGroups neighbouring groups, whose runs together fill a stretch of each line. Threads along
// x walk that stretch, kLanes of them in each group; threads along y take kLines lines at a time.
// The blocks of a cluster share the lines and exchange their partial results for each group through
// their shared memory.
#pragma once

#include "common/block.cuh"
#include "common/enums.cuh"

namespace aicf {

constexpr int kThreads = kBlockX * kBlockY;
static_assert(kBlockX == kLanes * kGroups && kBlockY == kLines,
              "the launch has the groups' threads");
static_assert(kThreads % 32 == 0 && kLanes * kLines >= 32,
              "every lane of a warp has a part to add");

constexpr int kRowLanes = kLanes * kLines * kClusterX;
constexpr int kRowsPerBlock = kGroups;
constexpr int kWidth = kVector;
/// The most elements that a thread keeps in registers: as many as its share of the registers has
/// room for.
constexpr int kMostKept = MinOf(64, 65536 / kThreads - 40);

AICF_DEVICE int Lane() {
  const int line =
      static_cast<int>(blockIdx.x) % kClusterX * kLines + static_cast<int>(threadIdx.y);
  return line * kLanes + static_cast<int>(threadIdx.x) % kLanes;
}
AICF_DEVICE int RowInBlock() { return static_cast<int>(threadIdx.x) / kLanes; }

/// kReused: whether a block could overwrite what another block still reads, so that a barrier is
/// needed. Layer and RMS norm make one call of AllLanes for each group, so that the next call, for
/// the next group, uses the same places.
constexpr bool kMerges = true;
constexpr bool kReused = (attr_kind == kRmsNorm || attr_kind == kLayerNorm) &&
                         kDomainCount1 > kGridX / kClusterX* kGroups;

/// The block's shared memory, in values of at most 24 bytes. For each of two calls of AllLanes
/// there is a value per group for the block and one for the cluster; then there is a value per
/// thread.
constexpr int kMostBytes = 24;
template <class T>
AICF_DEVICE T* KnownOfBlock(int call) {
  return reinterpret_cast<T*>(DynamicShared() + 2 * call * kGroups * kMostBytes);
}
template <class T>
AICF_DEVICE T* KnownOfCluster(int call) {
  return reinterpret_cast<T*>(DynamicShared() + (2 * call + 1) * kGroups * kMostBytes);
}
template <class T>
AICF_DEVICE T* KnownOfThreads() {
  static_assert(sizeof(T) <= kMostBytes, "the launch has the values' shared memory");
  return reinterpret_cast<T*>(DynamicShared() + 4 * kGroups * kMostBytes);
}
static_assert(kDynamicShared >= (4 * kGroups + kThreads) * kMostBytes,
              "the launch has the values' shared memory");

/// Combines the values of a group's threads by op, in one warp and in a fixed order. The result is
/// valid in lane 0.
template <class T, class Op>
AICF_DEVICE T AllOfGroup(const T* values, int group, Op op) {
  const int lane = ThreadInBlock() % 32;
  const auto at = [&](int i) { return values[i / kLanes * kBlockX + group * kLanes + i % kLanes]; };
  T all = at(lane);
  for (int i = lane + 32; i < kLanes * kLines; i += 32) all = op(all, at(i));
#pragma unroll
  for (int step = 16; step > 0; step /= 2) all = op(all, ShuffleXor(all, step));
  return all;
}

/// Calls f(group, lane) in one warp for each of the block's groups.
template <class F>
AICF_DEVICE void WithWarpOfGroup(F&& f) {
  for (int group = ThreadInBlock() / 32; group < kGroups; group += kThreads / 32) {
    f(group, ThreadInBlock() % 32);
  }
}

template <int kCall, class T, class Op>
AICF_DEVICE T AllLanes(T value, Op op) {
  T* const of_block = KnownOfBlock<T>(kCall);
  T* const of_cluster = KnownOfCluster<T>(kCall);
  T* const of_threads = KnownOfThreads<T>();
  if constexpr (kReused && kClusterX > 1) ClusterSharedBarrier();
  // The values of the previous call may be overwritten: they were read before its second barrier.
  of_threads[ThreadInBlock()] = value;
  __syncthreads();
  WithWarpOfGroup([&](int group, int lane) {
    const T all = AllOfGroup(of_threads, group, op);
    if (lane == 0) of_block[group] = all;
  });
  if constexpr (kClusterX == 1) {
    __syncthreads();
    return of_block[RowInBlock()];
  } else {
    ClusterSharedBarrier();
    // The lanes of one warp read the values of different blocks, so that all these loads are under
    // way at once.
    WithWarpOfGroup([&](int group, int lane) {
      T all = LoadCluster(of_block + group, lane % kClusterX);
#pragma unroll
      for (int step = 1; step < kClusterX; step *= 2) all = op(all, ShuffleXor(all, step));
      if (lane == 0) of_cluster[group] = all;
    });
    __syncthreads();
    return of_cluster[RowInBlock()];
  }
}

/// A block must not exit while other blocks may still read its shared memory.
AICF_DEVICE void Finish() {
  if constexpr (kClusterX > 1) LeaveCluster();
}

}  // namespace aicf

#include "normalize/normalize.cuh"
