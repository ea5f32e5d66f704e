// cuda.reduce.columns: neighbouring threads (x) walk neighbouring outputs, threads along y share
// the reduced elements of one output. For reductions over an axis that is not the contiguous one.
#pragma once

#include "common/block.cuh"
#include "reduce/accumulate.cuh"

namespace aicf {

constexpr index_t kLength = kDomainCount1;
constexpr index_t kResults = kDomainCount0;

AICF_DEVICE Accumulator AccumulateOwn(const Args& args, index_t result) {
  constexpr int kStreams = 4;
  Accumulator own[kStreams];
  const Share share = ShareOfBlock(kLength, kBlockY);
  index_t i = share.begin + static_cast<index_t>(threadIdx.y);
  for (; i + (kStreams - 1) * kBlockY < share.end; i += kStreams * kBlockY) {
    element_t x[kStreams][1];
#pragma unroll
    for (int s = 0; s < kStreams; ++s) Prologue::Load<1>(args, x[s], result, i + s * kBlockY);
#pragma unroll
    for (int s = 0; s < kStreams; ++s) own[s].Add(x[s], i + s * kBlockY);
  }
  for (; i < share.end; i += kBlockY) {
    element_t x[1];
    Prologue::Load<1>(args, x, result, i);
    own[0].Add(x, i);
  }
#pragma unroll
  for (int s = 1; s < kStreams; ++s) own[0].Merge(own[s]);
  return own[0];
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
  __shared__ Slot slots[kBlockY][kBlockX];
  const index_t first = static_cast<index_t>(blockIdx.x) / kPieces * kBlockX;
  for (index_t base = first; base < kResults; base += kGridX / kPieces * kBlockX) {
    const index_t result = base + threadIdx.x;
    Box box;
    box.value = Accumulator();
    if (result < kResults) box.value = AccumulateOwn(args, result);
    __syncthreads();
    slots[threadIdx.y][threadIdx.x] = box.slot;
    __syncthreads();
    if (threadIdx.y == 0 && result < kResults) {
      for (int y = 1; y < kBlockY; ++y) {
        Box other;
        other.slot = slots[y][threadIdx.x];
        box.value.Merge(other.value);
      }
    }
    FinishResult(args, box.value, result, kLength, threadIdx.y == 0 && result < kResults);
  }
}

}  // namespace aicf
