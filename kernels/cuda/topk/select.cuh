// cuda.topk.select: one block per line. Every thread keeps the best element of its share that has
// not been taken yet. k times, the block takes the best of these, and the thread that owns it looks
// for its next best one. The result is exact, with ties in the order of indices. The kernel is made
// for a k that is small compared with the line.
#pragma once

#include "common/block.cuh"

namespace aicf {

constexpr index_t kLength = kDomainCount0;
constexpr index_t kLines = kDomainCount1;

struct Candidate {
  element_t value;
  index_t index;  ///< -1: none left
};

/// Whether a comes before b in the result. NaN is the largest value.
AICF_DEVICE bool Before(const Candidate& a, const Candidate& b) {
  if (a.index < 0) return false;
  if (b.index < 0) return true;
  bool less = a.value < b.value, greater = b.value < a.value;
  if constexpr (kIsFloat<element_t>) {
    const bool a_nan = a.value != a.value, b_nan = b.value != b.value;
    if (a_nan || b_nan) {
      less = b_nan && !a_nan;
      greater = a_nan && !b_nan;
    }
  }
  if (less || greater) return attr_largest ? greater : less;
  return a.index < b.index;
}

/// The best element of this thread's share that comes after `taken` in the result. If taken.index
/// is -1, it is the best of the whole share.
AICF_DEVICE Candidate NextAfter(const Args& args, index_t line, const Candidate& taken) {
  Candidate best = {element_t(0), -1};
  for (index_t i = threadIdx.x; i < kLength; i += kBlockX) {
    element_t x[1];
    Prologue::Load<1>(args, x, i, line);
    const Candidate c = {x[0], i};
    if (taken.index >= 0 && !Before(taken, c)) continue;
    if (Before(c, best)) best = c;
  }
  return best;
}

AICF_DEVICE Candidate BestOfBlock(Candidate own) {
  struct alignas(8) Slot {
    u32 words[(sizeof(Candidate) + 7) / 8 * 2];
  };
  union Box {
    AICF_DEVICE Box() {}
    Candidate value;
    Slot slot;
  } box;
  box.value = own;
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    Box other;
    other.slot = ShuffleXor(box.slot, step);
    if (Before(other.value, box.value)) box.value = other.value;
  }
  __shared__ Slot slots[kBlockX / 32];
  __syncthreads();  // the slots may still be read for the previous element
  if (threadIdx.x % 32 == 0) slots[threadIdx.x / 32] = box.slot;
  __syncthreads();
#pragma unroll
  for (int w = 0; w < kBlockX / 32; ++w) {
    Box other;
    other.slot = slots[w];
    if (Before(other.value, box.value)) box.value = other.value;
  }
  return box.value;
}

AICF_DEVICE void Kernel(const Args& args) {
  for (index_t line = blockIdx.x; line < kLines; line += kGridX) {
    Candidate own = NextAfter(args, line, Candidate{element_t(0), -1});
    for (index_t r = 0; r < static_cast<index_t>(attr_k); ++r) {
      const Candidate best = BestOfBlock(own);
      if (best.index % kBlockX != static_cast<index_t>(threadIdx.x)) continue;
      const element_t value[1] = {best.value};
      const i64 index[1] = {static_cast<i64>(best.index)};
      StoreRun<Result0>(args.out[0], value, r, line);
      StoreRun<Result1>(args.out[1], index, r, line);
      own = NextAfter(args, line, best);
    }
  }
}

}  // namespace aicf
