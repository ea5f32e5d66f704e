// How the blocks of a cluster that share out the k of one tile (kSplit) add up their sums. Warps of
// the same number hold sums of the same results. Each puts a part of its own into its block's
// shared memory; when all have, each finishes a share of that part from the memory of all blocks,
// added in the order of the blocks, so that results are the same in every run.
#pragma once

#include "common/cluster.cuh"
#include "common/hopper_stage.cuh"
#include "common/mbarrier.cuh"

namespace aicf {

/// One warp's meetings with those of its number in the other blocks. With kSplit 1 there are none.
struct PartsExchange {
  static constexpr int kBarrierBytes = 16;  ///< of one warp: "there to read", then "has been read"

  unsigned barriers;
  unsigned parity = 0;

  AICF_DEVICE explicit PartsExchange(unsigned own_barriers) : barriers(own_barriers) {}

  static AICF_DEVICE void Init(unsigned own_barriers) {
    BarrierInit(own_barriers, kSplit);
    BarrierInit(own_barriers + 8, kSplit);
  }
  /// Before the first part: the barriers of all blocks are there (ClusterArrive followed theirs).
  static AICF_DEVICE void Begin() {
    if constexpr (kSplit > 1) ClusterWait();
  }
  /// After the last part: this block's memory may go, because all have read it.
  AICF_DEVICE void End() const {
    if constexpr (kSplit > 1) BarrierAcquire(barriers + 8, parity ^ 1);
  }
  /// Before the warp writes its memory: all have read the part before.
  AICF_DEVICE void BeginWriting() {
    __syncwarp();
    if constexpr (kSplit > 1) BarrierAcquire(barriers + 8, parity ^ 1);
  }
  /// After it: all have written this part.
  AICF_DEVICE void BeginReading() {
    __syncwarp();
    if constexpr (kSplit > 1) {
      const int lane = static_cast<int>(threadIdx.x) % 32;
      if (lane < kSplit) BarrierReleaseAt(barriers, lane);
      BarrierAcquire(barriers, parity);
    }
  }
  /// The results made of what was read have been stored, so the reads are over: no memory has to be
  /// ordered, which would wait for those stores.
  AICF_DEVICE void EndReading() {
    if constexpr (kSplit > 1) {
      __syncwarp();
      const int lane = static_cast<int>(threadIdx.x) % 32;
      if (lane < kSplit) BarrierArriveAt(barriers + 8, lane);
      parity ^= 1;
    }
  }
};

/// N neighbours in the warp's memory: with kSplit the sum of what all blocks have there.
template <int N>
AICF_DEVICE Pack<float, N> AddParts(const float* own) {
  if constexpr (kSplit == 1) {
    return *reinterpret_cast<const Pack<float, N>*>(own);
  } else {
    Pack<float, N> parts[kSplit];
#pragma unroll
    for (int rank = 0; rank < kSplit; ++rank) {
      parts[rank] = LoadFromBlock<N>(AddressInBlock(SharedAddress(own), rank));
    }
#pragma unroll
    for (int rank = 1; rank < kSplit; ++rank) {
#pragma unroll
      for (int j = 0; j < N; ++j) parts[0].v[j] = parts[0].v[j] + parts[rank].v[j];
    }
    return parts[0];
  }
}

}  // namespace aicf
