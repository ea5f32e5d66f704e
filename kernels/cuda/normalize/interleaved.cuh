// cuda.normalize.interleaved: groups of which each has a short run of every line in memory, as
// those of a group normalisation have where channels are stored next to each other. A block takes
// kGroups neighbouring groups, whose runs together fill a stretch of each line: threads along x
// walk that stretch, kLanes of them in one group, and threads along y take kLines lines at a time.
// The blocks of a cluster share the lines, and exchange what they know of each group through their
// shared memory.
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
/// What a thread keeps in registers: those that are left of its share.
constexpr int kMostKept = MinOf(64, 65536 / kThreads - 40);

AICF_DEVICE int Lane() {
  const int line =
      static_cast<int>(blockIdx.x) % kClusterX * kLines + static_cast<int>(threadIdx.y);
  return line * kLanes + static_cast<int>(threadIdx.x) % kLanes;
}
AICF_DEVICE int RowInBlock() { return static_cast<int>(threadIdx.x) / kLanes; }

/// RMS norm has one call of AllLanes for each group: other blocks may still read the last one's.
constexpr bool kReused = attr_kind == kRmsNorm && kDomainCount1 > kGridX / kClusterX* kGroups;

/// The block's shared memory: what it knows of its groups, for two calls, and what its threads do.
template <class T>
AICF_DEVICE T* KnownOfGroups(int call) {
  return reinterpret_cast<T*>(DynamicShared() + call * kGroups * static_cast<int>(sizeof(double)));
}
template <class T>
AICF_DEVICE T* KnownOfThreads() {
  return reinterpret_cast<T*>(DynamicShared() + 2 * kGroups * static_cast<int>(sizeof(double)));
}
static_assert(kDynamicShared >= (2 * kGroups + kThreads) * static_cast<int>(sizeof(double)),
              "the launch has the values' shared memory");

/// op over the values of a group's threads, by one warp in a fixed order; valid in its lane 0.
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

template <int kCall, class T, class Op>
AICF_DEVICE T AllLanes(T value, Op op) {
  T* const known = KnownOfGroups<T>(kCall);
  T* const values = KnownOfThreads<T>();
  if constexpr (kReused && kClusterX > 1) ClusterBarrier();
  // The values of the call before were read ahead of its second barrier.
  values[ThreadInBlock()] = value;
  __syncthreads();
  for (int group = ThreadInBlock() / 32; group < kGroups; group += kThreads / 32) {
    const T all = AllOfGroup(values, group, op);
    if (ThreadInBlock() % 32 == 0) known[group] = all;
  }
  const T* const own = known + RowInBlock();
  if constexpr (kClusterX == 1) {
    __syncthreads();
    return *own;
  } else {
    ClusterBarrier();
    T all = LoadCluster(own, 0);
#pragma unroll
    for (int rank = 1; rank < kClusterX; ++rank) all = op(all, LoadCluster(own, rank));
    return all;
  }
}

/// No block ends while another may still read its shared memory.
AICF_DEVICE void Finish() {
  if constexpr (kClusterX > 1) ClusterBarrier();
}

}  // namespace aicf

#include "normalize/normalize.cuh"
