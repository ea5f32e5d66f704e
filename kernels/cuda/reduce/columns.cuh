// cuda.reduce.columns: kBlockX neighbouring threads walk neighbouring outputs, kVector of them
// each, and the threads along y share the reduced elements of an output. It is meant for reductions
// over an axis that is not the contiguous one. If kBlockX is less than a warp, several threads of a
// warp share an output: they merge through registers before the warps meet in shared memory.
#pragma once

#include "common/block.cuh"

namespace aicf {
constexpr index_t kLength = kDomainCount1;
constexpr index_t kResults = kDomainCount0;
static_assert(kResults % kVector == 0, "results are whole vectors");
}  // namespace aicf

#include "reduce/accumulate.cuh"

namespace aicf {

constexpr int kStreams = 4;
constexpr int kWarps = kBlockX * kBlockY / 32;
constexpr index_t kPerBlock = static_cast<index_t>(kBlockX) * kVector;
static_assert(32 % kBlockX == 0, "a warp's threads share outputs evenly");

AICF_DEVICE void AccumulateOwn(const Args& args, index_t result, Accumulator (&own)[kVector]) {
  const Share share = ShareOfBlock(kLength, kBlockY);
  index_t i = share.begin + static_cast<index_t>(threadIdx.y);
  for (; i + (kStreams - 1) * kBlockY < share.end; i += kStreams * kBlockY) {
    element_t x[kStreams][kVector];
#pragma unroll
    for (int s = 0; s < kStreams; ++s) Prologue::Load<kVector>(args, x[s], result, i + s * kBlockY);
#pragma unroll
    for (int j = 0; j < kVector; ++j) {
      element_t column[kStreams];
#pragma unroll
      for (int s = 0; s < kStreams; ++s) column[s] = x[s][j];
      own[j].Add(column, i, kBlockY);
    }
  }
  // The loads of the remaining elements are started all at once, too: a short sum has no others.
  element_t x[kStreams - 1][kVector];
#pragma unroll
  for (int s = 0; s < kStreams - 1; ++s) {
    if (i + s * kBlockY < share.end) Prologue::Load<kVector>(args, x[s], result, i + s * kBlockY);
  }
#pragma unroll
  for (int s = 0; s < kStreams - 1; ++s) {
    if (i + s * kBlockY < share.end) {
#pragma unroll
      for (int j = 0; j < kVector; ++j) {
        const element_t one[1] = {x[s][j]};
        own[j].Add(one, i + s * kBlockY);
      }
    }
  }
}

struct alignas(8) Slot {
  u32 words[(sizeof(Accumulator) + 7) / 8 * 2];
};
union Box {
  AICF_DEVICE Box() {}
  Accumulator value;
  Slot slot;
};

/// Merges the accumulators of those threads of a warp that share outputs; all of them get the
/// result.
AICF_DEVICE void MergeInWarp(Accumulator (&own)[kVector]) {
#pragma unroll
  for (int step = kBlockX; step < 32; step *= 2) {
#pragma unroll
    for (int j = 0; j < kVector; ++j) {
      Box mine, other;
      mine.value = own[j];
      other.slot = ShuffleXor(mine.slot, step);
      own[j].Merge(other.value);
    }
  }
}

/// Neighbouring outputs that one thread merges and stores: as few as suffice for the block's
/// threads to handle all of its outputs.
AICF_DEVICE constexpr int OutputsPerThread() {
  int each = 1;
  while (each * 32 * kWarps < kPerBlock) each *= 2;
  return each;
}

/// Merges what the warps have accumulated for the block's outputs, the first of which is `base`,
/// and stores the results.
AICF_DEVICE void FinishBlock(const Args& args, const Slot (&slots)[kWarps][kVector][kBlockX],
                             index_t base) {
  constexpr int kEach = OutputsPerThread();
  const int x = ThreadInBlock() % kBlockX, first = ThreadInBlock() / kBlockX * kEach;
  const bool holds = first < kVector && base + x * kVector < kResults;
  Accumulator own[kEach];
  if (holds) {
#pragma unroll
    for (int e = 0; e < kEach; ++e) {
      Box box;
      box.slot = slots[0][first + e][x];
      own[e] = box.value;
    }
#pragma unroll 8
    for (int w = 1; w < kWarps; ++w) {
#pragma unroll
      for (int e = 0; e < kEach; ++e) {
        Box other;
        other.slot = slots[w][first + e][x];
        own[e].Merge(other.value);
      }
    }
  }
  FinishResults(args, own, base + x * kVector + first, holds);
}

AICF_DEVICE void Kernel(const Args& args) {
  __shared__ Slot slots[kWarps][kVector][kBlockX];
  const int lane = ThreadInBlock() % 32, warp = ThreadInBlock() / 32;
  const index_t first = static_cast<index_t>(blockIdx.x) / kPieces * kPerBlock;
  for (index_t base = first; base < kResults; base += kGridX / kPieces * kPerBlock) {
    const index_t result = base + static_cast<index_t>(threadIdx.x) * kVector;
    Accumulator own[kVector];
    if (result < kResults) AccumulateOwn(args, result, own);
    MergeInWarp(own);
    if constexpr (kWarps == 1) {
      FinishResults(args, own, result, lane < kBlockX && result < kResults);
      continue;
    }
    __syncthreads();  // the slots may still be read for the block's previous outputs
    if (lane < kBlockX) {
#pragma unroll
      for (int j = 0; j < kVector; ++j) {
        Box box;
        box.value = own[j];
        slots[warp][j][lane] = box.slot;
      }
    }
    __syncthreads();
    FinishBlock(args, slots, base);
  }
}

}  // namespace aicf
