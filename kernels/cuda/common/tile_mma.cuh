// Products of one tile on tensor cores (mma.sync): every warp keeps a kWarpM x kWarpN part of the
// tile in fragments, f32 sums. The row of tiles.def gives kTileM, kTileN, kTileK, kWarpM, kWarpN
// and kSplit. Operands are tf32, f16 or bf16 by kMath, converted on the way into shared memory
// (tf32: out of it).
#pragma once

#include "common/fragment.cuh"

namespace aicf {

typedef float acc_t;

constexpr int kPadA = kMath == kTf32 ? 4 : 8;
constexpr int kPadB = 8;
constexpr int kWarpsM = kTileM / kWarpM;
constexpr int kWarpsN = kTileN / kWarpN;
constexpr int kTileThreads = kWarpsM * kWarpsN * kSplit * 32;
constexpr int kGroupK = kTileK / kSplit;
constexpr int kStepK = kMath == kTf32 ? 8 : 16;
constexpr int kFragmentsM = kWarpM / 16;
constexpr int kFragmentsN = kWarpN / 8;
static_assert(kGroupK % kStepK == 0 && kWarpM % 16 == 0 && kWarpN % 8 == 0, "whole fragments");

/// Fragments of 16 x kStepK of A and kStepK x 8 of B at the given corner of the tile.
AICF_DEVICE void LoadA(unsigned (&f)[4], const float* a, int lane) {
  const float* p = a + lane / 4 * (kTileK + kPadA) + lane % 4;
  f[0] = F32ToTf32(p[0]);
  f[1] = F32ToTf32(p[8 * (kTileK + kPadA)]);
  f[2] = F32ToTf32(p[4]);
  f[3] = F32ToTf32(p[8 * (kTileK + kPadA) + 4]);
}
AICF_DEVICE void LoadB(unsigned (&f)[2], const float* b, int lane) {
  const float* p = b + lane % 4 * (kTileN + kPadB) + lane / 4;
  f[0] = F32ToTf32(p[0]);
  f[1] = F32ToTf32(p[4 * (kTileN + kPadB)]);
}
template <class T>
AICF_DEVICE void LoadA(unsigned (&f)[4], const T* a, int lane) {
  LoadMatrix4(f, a + lane % 16 * (kTileK + kPadA) + lane / 16 * 8);
}
template <class T>
AICF_DEVICE void LoadB(unsigned (&f)[2], const T* b, int lane) {
  LoadMatrix2Transposed(f, b + lane % 16 * (kTileN + kPadB));
}

struct TileSums {
  float sum[kFragmentsM][kFragmentsN][4];

  AICF_DEVICE void Clear() {
#pragma unroll
    for (int i = 0; i < kFragmentsM; ++i) {
#pragma unroll
      for (int j = 0; j < kFragmentsN; ++j) {
#pragma unroll
        for (int e = 0; e < 4; ++e) sum[i][j][e] = 0.0f;
      }
    }
  }
  static AICF_DEVICE int Group(int thread) { return thread / 32 / (kWarpsM * kWarpsN); }
  static AICF_DEVICE int Row(int thread) { return thread / 32 / kWarpsN % kWarpsM * kWarpM; }
  static AICF_DEVICE int Column(int thread) { return thread / 32 % kWarpsN * kWarpN; }

  AICF_DEVICE void Accumulate(int thread, const tile_t* a, const tile_t* b) {
    const int lane = thread % 32;
    const int first = Group(thread) * kGroupK;
#pragma unroll
    for (int k = first; k < first + kGroupK; k += kStepK) {
      unsigned x[kFragmentsM][4];
      unsigned y[kFragmentsN][2];
#pragma unroll
      for (int i = 0; i < kFragmentsM; ++i) {
        LoadA(x[i], a + (Row(thread) + i * 16) * (kTileK + kPadA) + k, lane);
      }
#pragma unroll
      for (int j = 0; j < kFragmentsN; ++j) {
        LoadB(y[j], b + k * (kTileN + kPadB) + Column(thread) + j * 8, lane);
      }
#pragma unroll
      for (int i = 0; i < kFragmentsM; ++i) {
#pragma unroll
        for (int j = 0; j < kFragmentsN; ++j) MultiplyFragments(sum[i][j], x[i], y[j]);
      }
    }
  }

  template <class F>
  AICF_DEVICE void Visit(int thread, F&& f) const {
    const int lane = thread % 32;
#pragma unroll
    for (int i = 0; i < kFragmentsM; ++i) {
#pragma unroll
      for (int j = 0; j < kFragmentsN; ++j) {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          f(Group(thread), Row(thread) + i * 16 + lane / 4 + e / 2 * 8,
            Column(thread) + j * 8 + lane % 4 * 2 + e % 2, sum[i][j][e]);
        }
      }
    }
  }
};

}  // namespace aicf
