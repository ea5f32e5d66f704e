// What cuda.blockgemm.gemv makes of the rows of A: the sums of their groups, and its fragments.
#pragma once

#include "blockgemm/rows.cuh"

namespace aicf {

constexpr int kColumnTiles = (kXColumns + 7) / 8;
/// Columns of the start values of a group's sums, rounded up to pairs.
constexpr int kStartColumns = (kXColumns + 1) / 2 * 2;
constexpr int kStartsBytes = kPartGroups * kStartColumns * 4;
constexpr int kSumsBytes = (kStartsBytes + (kHasMinimum ? kPartGroups * kM * 4 : 0) + 15) / 16 * 16;

/// The value that a sum of group g of this block's part of k starts with: place g * kStartColumns +
/// column. It cancels what the numbers of the group's codes are too large by.
AICF_DEVICE float* SharedStarts() { return reinterpret_cast<float*>(DynamicShared() + kXBytes); }
/// Sums of the elements of A by group: place g * kM + m has that of row m over group g.
AICF_DEVICE float* SharedSums() {
  return reinterpret_cast<float*>(DynamicShared() + kXBytes + kStartsBytes);
}

AICF_DEVICE void StoreSum(int m, int group, float sum) {
  if constexpr (kHasMinimum) SharedSums()[group * kM + m] = sum;
  float* starts = SharedStarts() + group * kStartColumns + m * kXParts;
  starts[0] = -kCentre * sum;
#pragma unroll
  for (int part = 1; part < kXParts; ++part) starts[part] = 0.0f;
}

/// Brings this block's part of all rows, which begins with chunk `chunk0`, into shared memory. To
/// be called by all threads of the block.
AICF_DEVICE void StageRows(const Args& args, index_t chunk0) {
  constexpr int kAll = kPartRuns * 4 * kM;
  const In0::S* base = static_cast<const In0::S*>(args.in[0]);
  for (int first = 0; first < kAll; first += kBlockX) {
    const Eight eight(first + static_cast<int>(threadIdx.x));
    float x[8], sum[2];
    eight.Load<In0>(base, chunk0, x);
    eight.Store(x, sum);
    if constexpr (Chunk::kGroups > 0) {
      ForEachGroupSum(eight, sum,
                      [&](int group, float of_group) { StoreSum(eight.m, group, of_group); });
    }
  }
}

/// Loads the lane's part of the fragments of a run. Columns beyond the last one repeat it, since
/// nobody reads their sums.
AICF_DEVICE void LoadX(int run, int lane, u32 (&x)[kColumnTiles][4]) {
#pragma unroll
  for (int tile = 0; tile < kColumnTiles; ++tile) {
    const int column = MinOf(tile * 8 + lane / 4, kXColumns - 1);
    const char* from = SharedX() + column * kXPitch + (run * 4 + lane % 4) * 16;
    LoadWords(from, x[tile]);
  }
}

/// Loads the start values of the sums of group `group` of this part, in the lane's columns for both
/// of its rows.
AICF_DEVICE void LoadStarts(int group, int lane, float (&c)[kColumnTiles][4]) {
#pragma unroll
  for (int tile = 0; tile < kColumnTiles; ++tile) {
    const int column = MinOf(tile * 8 + lane % 4 * 2, kStartColumns - 2);
    const Pack<float, 2> pack =
        *reinterpret_cast<const Pack<float, 2>*>(SharedStarts() + group * kStartColumns + column);
    c[tile][0] = c[tile][2] = pack.v[0];
    c[tile][1] = c[tile][3] = pack.v[1];
  }
}

}  // namespace aicf
