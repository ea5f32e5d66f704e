// cuda.reduce.rows: kBlockX threads walk the reduced elements of one output, with kBlockY outputs
// per block. With kClusterX > 1 the blocks of a cluster share one output, and the first of them
// adds up their partial results, in order, through the workspace.
#pragma once

#include "common/block.cuh"

namespace aicf {
constexpr index_t kLength = kDomainCount0;
constexpr index_t kResults = kDomainCount1;
}  // namespace aicf

#include "reduce/accumulate.cuh"

namespace aicf {

static_assert(kPieces == 1 || kBlockY == 1, "a cluster works on one output");

/// Elements per load. Floats are loaded in runs where every operand allows it.
constexpr int kWidth = kDomainVector;

AICF_DEVICE Accumulator AccumulateOwn(const Args& args, index_t result, int lane) {
  // With several independent accumulators, several loads are under way at once, which hides their
  // latency.
  constexpr int kStreams = 4;
  constexpr index_t kStride = static_cast<index_t>(kBlockX) * kWidth;
  const Share share = ShareOfBlock(kLength, kStride);
  Accumulator own[kStreams];
  index_t i = share.begin + static_cast<index_t>(lane) * kWidth;
  for (; i + (kStreams - 1) * kStride + kWidth <= share.end; i += kStreams * kStride) {
    element_t x[kStreams][kWidth];
#pragma unroll
    for (int s = 0; s < kStreams; ++s) Prologue::Load<kWidth>(args, x[s], i + s * kStride, result);
#pragma unroll
    for (int s = 0; s < kStreams; ++s) own[s].Add(x[s], i + s * kStride);
  }
  for (; i < share.end; i += kStride) {
    for (index_t j = i; j < i + kWidth && j < share.end; ++j) {
      element_t x[1];
      Prologue::Load<1>(args, x, j, result);
      own[0].Add(x, j);
    }
  }
#pragma unroll
  for (int s = 1; s < kStreams; ++s) own[0].Merge(own[s]);
  return own[0];
}

/// Merges over the kBlockX lanes of one output; lane 0 holds the result.
AICF_DEVICE Accumulator MergeLanes(Accumulator own, int lane) {
  constexpr int kWarpLanes = MinOf(kBlockX, 32);
  constexpr int kWarps = kBlockX / kWarpLanes;
  struct alignas(8) Slot {
    u32 words[(sizeof(Accumulator) + 7) / 8 * 2];
  };
  union Box {
    AICF_DEVICE Box() {}
    Accumulator value;
    Slot slot;
  } box;
  box.value = own;
#pragma unroll
  for (int step = kWarpLanes / 2; step > 0; step /= 2) {
    Box other;
    other.slot = ShuffleXor(box.slot, step);
    box.value.Merge(other.value);
  }
  if constexpr (kWarps > 1) {
    __shared__ Slot slots[kBlockY][kWarps];
    __syncthreads();  // the slots may still be read for the block's previous output
    if (lane % 32 == 0) slots[threadIdx.y][lane / 32] = box.slot;
    __syncthreads();
    if (lane == 0) {
      for (int w = 1; w < kWarps; ++w) {
        Box other;
        other.slot = slots[threadIdx.y][w];
        box.value.Merge(other.value);
      }
    }
  }
  return box.value;
}

AICF_DEVICE void Kernel(const Args& args) {
  const int lane = threadIdx.x;
  constexpr index_t kPerGrid = kGridX / kPieces * kBlockY;
  const index_t first = static_cast<index_t>(blockIdx.x) / kPieces * kBlockY;
  // Every thread of a block takes every round: the barriers inside are met by all.
  for (index_t base = first; base < kResults; base += kPerGrid) {
    const index_t result = base + threadIdx.y;
    const bool valid = result < kResults;
    Accumulator own[1];
    if (valid) own[0] = AccumulateOwn(args, result, lane);
    own[0] = MergeLanes(own[0], lane);
    FinishResults(args, own, result, valid && lane == 0);
  }
}

}  // namespace aicf
