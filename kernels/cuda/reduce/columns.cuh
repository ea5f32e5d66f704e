// cuda.reduce.columns: neighbouring threads (x) walk neighbouring outputs, kVector of them each,
// and threads along y share the reduced elements of an output. For reductions over an axis that is
// not the contiguous one.
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
  for (; i < share.end; i += kBlockY) {
    element_t x[kVector];
    Prologue::Load<kVector>(args, x, result, i);
#pragma unroll
    for (int j = 0; j < kVector; ++j) {
      const element_t one[1] = {x[j]};
      own[j].Add(one, i);
    }
  }
}

AICF_DEVICE void Kernel(const Args& args) {
  struct alignas(8) Slot {
    u32 words[(sizeof(Accumulator) + 7) / 8 * 2];
  };
  union Box {
    AICF_DEVICE Box() {}
    Accumulator value;
    Slot slot;
  };
  __shared__ Slot slots[kBlockY][kVector][kBlockX];
  constexpr index_t kPerBlock = static_cast<index_t>(kBlockX) * kVector;
  const index_t first = static_cast<index_t>(blockIdx.x) / kPieces * kPerBlock;
  for (index_t base = first; base < kResults; base += kGridX / kPieces * kPerBlock) {
    const index_t result = base + static_cast<index_t>(threadIdx.x) * kVector;
    Accumulator own[kVector];
    if (result < kResults) AccumulateOwn(args, result, own);
    __syncthreads();  // the slots may still be read for the block's previous outputs
#pragma unroll
    for (int j = 0; j < kVector; ++j) {
      Box box;
      box.value = own[j];
      slots[threadIdx.y][j][threadIdx.x] = box.slot;
    }
    __syncthreads();
    if (threadIdx.y == 0 && result < kResults) {
      for (int y = 1; y < kBlockY; ++y) {
#pragma unroll
        for (int j = 0; j < kVector; ++j) {
          Box other;
          other.slot = slots[y][j][threadIdx.x];
          own[j].Merge(other.value);
        }
      }
    }
    FinishResults(args, own, result, threadIdx.y == 0 && result < kResults);
  }
}

}  // namespace aicf
