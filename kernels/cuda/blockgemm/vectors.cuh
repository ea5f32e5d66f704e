// The rows of A that cuda.blockgemm.gemv multiplies, in shared memory as its lanes read them, and
// the sums of their groups.
#pragma once

#include "blockgemm/fragments.cuh"

namespace aicf {

constexpr int kM = static_cast<int>(kRows);
/// Parts of rows, each a column of the fragments.
constexpr int kXColumns = kM * kXParts;
constexpr int kColumnTiles = (kXColumns + 7) / 8;

/// Blocks of a cluster share out the chunks.
constexpr int kParts = kClusterX;
constexpr index_t kPartChunks = (kChunks + kParts - 1) / kParts;
constexpr int kPartRuns = static_cast<int>(kPartChunks) * Chunk::kRuns;
/// Bytes of a column: lanes of neighbouring columns read from different banks.
constexpr int kXPitch = (kPartRuns * 64 + 127) / 128 * 128 + 64;
constexpr int kXBytes = kXColumns * kXPitch;
constexpr int kPartGroups = static_cast<int>(kPartChunks) * Chunk::kGroups;
/// Minimums are multiplied with the sums of groups alone.
constexpr bool kHasMinimum = BlockOf<kFormat>::kHasMinimum;
/// Columns of what a group's sums begin with, in pairs.
constexpr int kStartColumns = (kXColumns + 1) / 2 * 2;
constexpr int kStartsBytes = kPartGroups * kStartColumns * 4;
constexpr int kSumsBytes = (kStartsBytes + (kHasMinimum ? kPartGroups * kM * 4 : 0) + 15) / 16 * 16;

AICF_DEVICE char* SharedX() { return DynamicShared(); }
/// What the sum of group g of this part begins with in a column: place g * kStartColumns + column.
/// Less than nothing by what the numbers of its codes are too large.
AICF_DEVICE float* SharedStarts() { return reinterpret_cast<float*>(DynamicShared() + kXBytes); }
/// Of row m over group g: place g * kM + m.
AICF_DEVICE float* SharedSums() {
  return reinterpret_cast<float*>(DynamicShared() + kXBytes + kStartsBytes);
}

/// Four neighbours along k of a row, 0 beyond its end.
AICF_DEVICE void LoadFour(const In0::S* row, index_t k, float (&x)[4]) {
  constexpr int N = kLength % 4 == 0 ? PieceOf<In0::S>(4, In0::run(kAxisK)) : 1;
#pragma unroll
  for (int j = 0; j < 4; j += N) {
    Pack<In0::S, N> pack = {};
    if (k + j < kLength) {
      pack = *reinterpret_cast<const Pack<In0::S, N>*>(row + (k + j) * In0::stride(kAxisK));
    }
#pragma unroll
    for (int i = 0; i < N; ++i) x[j + i] = Widen(pack.v[i]);
  }
}

/// The eight elements of lane part t of a run: in shared memory as parts, and their sum by fours.
AICF_DEVICE void StageEight(const In0::S* row, index_t k0, int m, int run, int t, float (&sum)[2]) {
  u32 words[kXParts][4];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float x[4];
    LoadFour(row, k0 + ElementOfLane(t, 4 * half), x);
    sum[half] = 0.0f;
#pragma unroll
    for (int pair = 0; pair < 2; ++pair) {
      float two[2] = {x[2 * pair], x[2 * pair + 1]};
      u32 parts[kXParts];
      PairOfX(two, parts);
#pragma unroll
      for (int part = 0; part < kXParts; ++part) words[part][2 * half + pair] = parts[part];
      sum[half] = sum[half] + two[0] + two[1];
    }
  }
#pragma unroll
  for (int part = 0; part < kXParts; ++part) {
    char* to = SharedX() + (m * kXParts + part) * kXPitch + (run * 4 + t) * 16;
    *reinterpret_cast<Pack<u32, 4>*>(to) =
        Pack<u32, 4>{words[part][0], words[part][1], words[part][2], words[part][3]};
  }
}

/// The sums of the groups that four neighbouring threads have the elements of.
AICF_DEVICE void StoreSums(float (&sum)[2], int m, int run, int t, bool valid) {
  if constexpr (Chunk::kGroup == 32) sum[0] = sum[0] + sum[1];
#pragma unroll
  for (int half = 0; half < (Chunk::kGroup == 32 ? 1 : 2); ++half) {
    sum[half] = sum[half] + ShuffleXor(sum[half], 1);
    sum[half] = sum[half] + ShuffleXor(sum[half], 2);
    const int group = Chunk::kGroup == 32 ? run : run * 2 + half;
    if (!valid || t != 0) continue;
    if constexpr (kHasMinimum) SharedSums()[group * kM + m] = sum[half];
    float* starts = SharedStarts() + group * kStartColumns + m * kXParts;
    starts[0] = -kCentre * sum[half];
#pragma unroll
    for (int part = 1; part < kXParts; ++part) starts[part] = 0.0f;
  }
}

/// All threads of the block: this part of all rows, whose first chunk is `chunk0`.
AICF_DEVICE void StageRows(const Args& args, index_t chunk0) {
  constexpr int kOfRow = kPartRuns * 4, kAll = kOfRow * kM;
  const In0::S* base = static_cast<const In0::S*>(args.in[0]);
  for (int first = 0; first < kAll; first += kBlockX) {
    const int own = first + static_cast<int>(threadIdx.x);
    const bool valid = own < kAll;
    const int m = valid ? own / kOfRow : 0, run = own % kOfRow / 4, t = own % 4;
    float sum[2] = {0.0f, 0.0f};
    if (valid) {
      StageEight(base + RowOfA(m), chunk0 * Chunk::kDepth + run * 32, m, run, t, sum);
    }
    if constexpr (Chunk::kGroups > 0) StoreSums(sum, m, run, t, valid);
  }
}

/// The fragments of a run, in all lanes. Columns that are not there repeat the last one: nobody
/// reads their sums.
AICF_DEVICE void LoadX(int run, int lane, u32 (&x)[kColumnTiles][4]) {
#pragma unroll
  for (int tile = 0; tile < kColumnTiles; ++tile) {
    const int column = MinOf(tile * 8 + lane / 4, kXColumns - 1);
    const char* from = SharedX() + column * kXPitch + (run * 4 + lane % 4) * 16;
    LoadWords(from, x[tile]);
  }
}

/// What the sums of group `group` of this part begin with, in the lane's columns of both rows.
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
