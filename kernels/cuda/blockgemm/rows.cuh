// The rows of A in shared memory, in the form in which the kernels for few rows multiply them.
#pragma once

#include "blockgemm/fragments.cuh"

namespace aicf {

constexpr int kM = static_cast<int>(kRows);
/// Rows of A in parts. In cuda.blockgemm.gemv each is a column of the fragments.
constexpr int kXColumns = kM * kXParts;

/// Number of blocks in a cluster, which share out the chunks along k.
constexpr int kParts = kClusterX;
constexpr index_t kPartChunks = (kChunks + kParts - 1) / kParts;
constexpr int kPartRuns = static_cast<int>(kPartChunks) * Chunk::kRuns;
/// Bytes of one column, padded so that lanes of neighbouring columns read from different banks.
constexpr int kXPitch = (kPartRuns * 64 + 127) / 128 * 128 + 64;
constexpr int kXBytes = kXColumns * kXPitch;
constexpr int kPartGroups = static_cast<int>(kPartChunks) * Chunk::kGroups;
/// Whether elements have minimums, which are multiplied with the sums of groups alone.
constexpr bool kHasMinimum = BlockOf<kFormat>::kHasMinimum;

AICF_DEVICE char* SharedX() { return DynamicShared(); }

/// Four neighbours along k of a row of an operand of A's shape, 0 beyond its end.
template <class V>
AICF_DEVICE void LoadFour(const typename V::S* row, index_t k, float* x) {
  constexpr int N = kLength % 4 == 0 ? PieceOf<typename V::S>(4, V::run(kAxisK)) : 1;
#pragma unroll
  for (int j = 0; j < 4; j += N) {
    Pack<typename V::S, N> pack = {};
    if (k + j < kLength) {
      pack = *reinterpret_cast<const Pack<typename V::S, N>*>(row + (k + j) * V::stride(kAxisK));
    }
#pragma unroll
    for (int i = 0; i < N; ++i) x[j + i] = Widen(pack.v[i]);
  }
}

/// Eight elements of a row that lie together in a fragment: those that lane part `t` has of a run.
struct Eight {
  int m, run, t;
  bool valid;

  /// The eight that has this number among those of all rows; not valid if there are fewer.
  AICF_DEVICE explicit Eight(int number) {
    constexpr int kOfRow = kPartRuns * 4;
    valid = number < kOfRow * kM;
    m = valid ? number / kOfRow : 0;
    run = number % kOfRow / 4;
    t = number % 4;
  }
  /// Loads the elements from an operand of A's shape; those that do not exist are 0. `chunk0` is
  /// the first chunk of this block's part of k.
  template <class V>
  AICF_DEVICE void Load(const typename V::S* base, index_t chunk0, float (&x)[8]) const {
#pragma unroll
    for (int e = 0; e < 8; ++e) x[e] = 0.0f;
    if (!valid) return;
    const index_t k0 = chunk0 * Chunk::kDepth + run * 32;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      LoadFour<V>(base + RowOf<V>(m), k0 + ElementOfLane(t, 4 * half), x + 4 * half);
    }
  }
  /// Splits the elements into parts and stores these in shared memory. Gives the sum of each four
  /// elements, as their parts represent them.
  AICF_DEVICE void Store(const float (&x)[8], float (&sum)[2]) const {
    sum[0] = sum[1] = 0.0f;
    if (!valid) return;
    u32 words[kXParts][4];
#pragma unroll
    for (int pair = 0; pair < 4; ++pair) {
      float two[2] = {x[2 * pair], x[2 * pair + 1]};
      u32 parts[kXParts];
      PairOfX(two, parts);
#pragma unroll
      for (int part = 0; part < kXParts; ++part) words[part][pair] = parts[part];
      sum[pair / 2] = sum[pair / 2] + two[0] + two[1];
    }
#pragma unroll
    for (int part = 0; part < kXParts; ++part) {
      char* to = SharedX() + (m * kXParts + part) * kXPitch + (run * 4 + t) * 16;
      *reinterpret_cast<Pack<u32, 4>*>(to) =
          Pack<u32, 4>{words[part][0], words[part][1], words[part][2], words[part][3]};
    }
  }
};

/// Adds up the elements of A by group. Four neighbouring threads have the elements of a run; all
/// threads of the warp must call this. store(group, sum) is called for every group, by one of the
/// four threads.
template <class Store>
AICF_DEVICE void ForEachGroupSum(const Eight& eight, float (&sum)[2], const Store& store) {
  if constexpr (Chunk::kGroup == 32) sum[0] = sum[0] + sum[1];
#pragma unroll
  for (int half = 0; half < (Chunk::kGroup == 32 ? 1 : 2); ++half) {
    sum[half] = sum[half] + ShuffleXor(sum[half], 1);
    sum[half] = sum[half] + ShuffleXor(sum[half], 2);
    if (!eight.valid || eight.t != 0) continue;
    store(Chunk::kGroup == 32 ? eight.run : eight.run * 2 + half, sum[half]);
  }
}

}  // namespace aicf
