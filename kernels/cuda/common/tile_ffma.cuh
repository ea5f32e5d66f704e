// Products of one tile on the ordinary units: every thread keeps kThreadM x kThreadN sums in
// registers. The row of tiles.def gives kTileM, kTileN, kTileK, kThreadM, kThreadN and kSplit
// (parts of a tile's k that groups of threads take in parallel).
#pragma once

namespace aicf {

/// Sums: f32 by fused multiply-add, f64 likewise, integers modulo 2^32 or 2^64.
template <class T>
struct SumTypeOf {
  typedef typename WrapOf<T>::U A;
};
template <>
struct SumTypeOf<float> {
  typedef float A;
};
template <>
struct SumTypeOf<double> {
  typedef double A;
};
typedef SumTypeOf<raw_t>::A acc_t;
typedef acc_t tile_t;

AICF_DEVICE float MultiplyAdd(float a, float b, float c) { return fmaf(a, b, c); }
AICF_DEVICE double MultiplyAdd(double a, double b, double c) { return fma(a, b, c); }
template <class T>
AICF_DEVICE T MultiplyAdd(T a, T b, T c) {
  return a * b + c;
}

constexpr int kPadA = 4;
constexpr int kPadB = 8;
constexpr int kTileThreads = kTileM / kThreadM * (kTileN / kThreadN) * kSplit;
constexpr int kGroupK = kTileK / kSplit;
constexpr int kColumnGroups = kThreadN / 4;
static_assert(kThreadN % 4 == 0 && kGroupK % 4 == 0, "shared memory is read in fours");

struct TileSums {
  acc_t sum[kThreadM][kThreadN];

  AICF_DEVICE void Clear() {
#pragma unroll
    for (int i = 0; i < kThreadM; ++i) {
#pragma unroll
      for (int j = 0; j < kThreadN; ++j) sum[i][j] = acc_t(0);
    }
  }
  static AICF_DEVICE int Group(int thread) { return thread / (kTileThreads / kSplit); }
  static AICF_DEVICE int Row(int thread) {
    return thread % (kTileThreads / kSplit) / (kTileN / kThreadN) * kThreadM;
  }
  /// First of four neighbouring columns of group g.
  static AICF_DEVICE int Column(int thread, int g) {
    return thread % (kTileN / kThreadN) * 4 + g * (kTileN / kColumnGroups);
  }

  /// Adds a[kTileM][k] * b[k][kTileN] over this thread's part of k.
  AICF_DEVICE void Accumulate(int thread, const tile_t* a, const tile_t* b) {
    const int first = Group(thread) * kGroupK;
#pragma unroll
    for (int k = first; k < first + kGroupK; k += 4) {
      Pack<tile_t, 4> x[kThreadM];
#pragma unroll
      for (int i = 0; i < kThreadM; ++i) {
        x[i] =
            *reinterpret_cast<const Pack<tile_t, 4>*>(a + (Row(thread) + i) * (kTileK + kPadA) + k);
      }
#pragma unroll
      for (int kk = 0; kk < 4; ++kk) {
#pragma unroll
        for (int g = 0; g < kColumnGroups; ++g) {
          const Pack<tile_t, 4> y = *reinterpret_cast<const Pack<tile_t, 4>*>(
              b + (k + kk) * (kTileN + kPadB) + Column(thread, g));
#pragma unroll
          for (int i = 0; i < kThreadM; ++i) {
#pragma unroll
            for (int j = 0; j < 4; ++j) {
              sum[i][g * 4 + j] = MultiplyAdd(x[i].v[kk], y.v[j], sum[i][g * 4 + j]);
            }
          }
        }
      }
    }
  }

  /// Calls f(group, row, column, sum) for every sum of this thread.
  template <class F>
  AICF_DEVICE void Visit(int thread, F&& f) const {
#pragma unroll
    for (int i = 0; i < kThreadM; ++i) {
#pragma unroll
      for (int j = 0; j < kThreadN; ++j) {
        f(Group(thread), Row(thread) + i, Column(thread, j / 4) + j % 4, sum[i][j]);
      }
    }
  }
};

}  // namespace aicf
