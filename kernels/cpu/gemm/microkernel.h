/// The register tile: ROWS x VECTORS accumulators over a list of taps. Two ways to find a row of A:
/// evenly spaced from a base (interior tiles; needs a third of the address registers), or one
/// address per row and tap (tiles that meet padding).
#pragma once

#include <cstdint>

#include "kernels/cpu/common/simd.h"
#include "kernels/cpu/gemm/igemm.h"

AICF_ISA_BEGIN

// Most rows of a tile, by its number of vectors. Accumulators, one row of the panel and one
// broadcast value of A fill the register file: 32 registers with AVX-512, 16 otherwise.
inline constexpr int kTileRows[4] = {kLanes == 16 ? 14 : 12, kLanes == 16 ? 14 : 6,
                                     kLanes == 16 ? 9 : 4, kLanes == 16 ? 6 : 2};

struct TileCall : TileWork {
  Mask last;    ///< lanes of the last vector that are stored
  Mask last_x;  ///< lanes that x has (depthwise only)
  bool clamp;
  float lo, hi;
};

using TileFn = void (*)(const TileCall& call);

// Rows r, r+1, r+2 share a base register: [base], [base + s], [base + 2s] are plain x86 addresses.
inline constexpr int kRowsPerBase = 3;

template <int kRows, int kVectors, bool kGathered>
struct TileRowsAt {
  static constexpr int kBases = (kRows + kRowsPerBase - 1) / kRowsPerBase;
  const float* base[kBases];
  int64_t stride;

  AICF_INLINE TileRowsAt(const TileWork& call, int64_t tap) : stride(call.row_stride) {
    for (int i = 0; i < kBases; ++i)
      base[i] = call.x + call.taps[tap].x + kRowsPerBase * i * stride;
  }
  AICF_INLINE const float* Address(int row) const {
    return base[row / kRowsPerBase] + (row % kRowsPerBase) * stride;
  }
  AICF_INLINE const float* Cell(int row, int64_t) const { return Address(row); }
  AICF_INLINE float At(int row, int64_t k) const { return *Cell(row, k); }
  AICF_INLINE void Next() {
    for (int i = 0; i < kBases; ++i) {
      ++base[i];
      // Keeps the compiler from rewriting the bases as base[0] + k + i * 3 * stride, which costs an
      // address computation per row and step.
      asm("" : "+r"(base[i]));
    }
  }
};

template <int kRows, int kVectors>
struct TileRowsAt<kRows, kVectors, true> {
  const float* const* rows;
  AICF_INLINE TileRowsAt(const TileWork& call, int64_t tap) : rows(call.rows + tap * kRows) {}
  AICF_INLINE const float* Address(int row) const { return rows[row]; }
  AICF_INLINE const float* Cell(int row, int64_t k) const { return rows[row] + k; }
  AICF_INLINE float At(int row, int64_t k) const { return *Cell(row, k); }
  AICF_INLINE void Next() {}
};

// Clamps the accumulators and stores them to `out`.
template <int kRows, int kVectors, class Call>
AICF_INLINE void FinishAccumulators(const Call& call, float* out, Vec (&acc)[kRows][kVectors]) {
  if (call.clamp) {
    const Vec lo = Broadcast(call.lo), hi = Broadcast(call.hi);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) acc[r][j] = Min(hi, Max(lo, acc[r][j]));
    }
  }
  // Copied to local variables, since as far as the compiler knows the stores could change the call.
  const int64_t stride = call.out_stride;
  const Mask last = call.last;
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r, out += stride) {
#pragma GCC unroll 4
    for (int j = 0; j + 1 < kVectors; ++j) Store(out + j * kLanes, acc[r][j]);
    StoreMasked(out + (kVectors - 1) * kLanes, last, acc[r][kVectors - 1]);
  }
}

// How many rows ahead of its use a row of a panel is prefetched. Deep panels come from the
// second-level cache; without prefetching, that costs a tenth of the time. A panel of one vector is
// not prefetched, since it is small and used slowly.
inline constexpr int64_t kAheadRows = 16;

// Vector j of a row of a panel.
template <int kVectors>
AICF_INLINE int64_t PanelVector(int j, int64_t far) {
  return kVectors == 4 && j >= 2 ? far + (j - 2) * kLanes : j * kLanes;
}

// Number of products that are summed before their sum is added to that of earlier runs. The
// rounding error of a sum grows with its length; the detour through memory costs a hundredth of the
// time.
inline constexpr int64_t kRunLength = 128;

template <int kRows, int kVectors>
AICF_INLINE void JoinRun(Vec (&sum)[kRows][kVectors], Vec (&acc)[kRows][kVectors]) {
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) {
      sum[r][j] = sum[r][j] + acc[r][j];
      acc[r][j] = Broadcast(0.0f);
    }
  }
}

template <int kRows, int kVectors, bool kGathered>
void RunTile(const TileCall& call) {
  Vec acc[kRows][kVectors], sum[kRows][kVectors];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) {
      sum[r][j] = Load(call.start + j * kLanes);
      acc[r][j] = Broadcast(0.0f);
    }
  }
  const int64_t depth = call.depth, b_stride = call.b_stride, far = call.b_far;
  int64_t left = kRunLength;
  for (int64_t tap = 0; tap < call.tap_count; ++tap) {
    TileRowsAt<kRows, kVectors, kGathered> rows(call, tap);
    const float* b = call.taps[tap].b;
    const float* ahead = b + kAheadRows * b_stride;
    for (int64_t k = 0; k < depth; ++k, b += b_stride, ahead += b_stride) {
      if (left-- == 0) {
        JoinRun<kRows, kVectors>(sum, acc);
        left = kRunLength - 1;
      }
      Vec panel[kVectors];
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) {
        const int64_t at = PanelVector<kVectors>(j, far);
        panel[j] = Load(b + at);
        if (kVectors > 1) __builtin_prefetch(ahead + at);
      }
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        const Vec a = Broadcast(rows.At(r, k));
#pragma GCC unroll 4
        for (int j = 0; j < kVectors; ++j) acc[r][j] = Fma(a, panel[j], acc[r][j]);
      }
      rows.Next();
    }
  }
  JoinRun<kRows, kVectors>(acc, sum);
  FinishAccumulators<kRows, kVectors>(call, call.out, acc);
}

/// The kernel for a tile. REQUIRES: 1 <= vectors <= 4, 1 <= rows <= kTileRows[vectors - 1].
TileFn FindTile(int vectors, int rows, bool gathered);

AICF_ISA_END
