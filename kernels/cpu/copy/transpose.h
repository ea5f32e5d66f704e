/// Blocked transposes: in_row == 1 and out_col == 1. For *.isa.cc files only.
#pragma once

#include <cstdint>

#include "kernels/cpu/copy/plane.h"
#include "kernels/cpu/isa.h"

#if defined(AICF_ISA_avx2) || defined(AICF_ISA_avx512)
#include <immintrin.h>
#endif

AICF_ISA_BEGIN

/// Elements per side of a block. The block is so small that the cache lines of its columns stay in
/// the cache while it is copied.
constexpr int64_t kTransposeSide = 32;

template <class T>
void TransposeBlock(const T* in, int64_t in_col, T* out, int64_t out_row, int64_t rows,
                    int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < cols; ++c) out[r * out_row + c] = in[c * in_col + r];
  }
}

#if defined(AICF_ISA_avx2) || defined(AICF_ISA_avx512)
/// Transposes 8 x 8 elements of 4 bytes: pairs of elements are formed, then quadruples, and then
/// halves of registers are exchanged.
inline void Transpose8x8(const uint32_t* in, int64_t in_col, uint32_t* out, int64_t out_row) {
  __m256 v[8], t[8];
  for (int i = 0; i < 8; ++i)
    v[i] = _mm256_loadu_ps(reinterpret_cast<const float*>(in + i * in_col));
  for (int i = 0; i < 8; i += 2) {
    t[i] = _mm256_unpacklo_ps(v[i], v[i + 1]);
    t[i + 1] = _mm256_unpackhi_ps(v[i], v[i + 1]);
  }
  for (int i = 0; i < 8; i += 4) {
    v[i] = _mm256_shuffle_ps(t[i], t[i + 2], 0x44);
    v[i + 1] = _mm256_shuffle_ps(t[i], t[i + 2], 0xee);
    v[i + 2] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0x44);
    v[i + 3] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0xee);
  }
  for (int i = 0; i < 4; ++i) {
    const __m256 low = _mm256_permute2f128_ps(v[i], v[i + 4], 0x20);
    const __m256 high = _mm256_permute2f128_ps(v[i], v[i + 4], 0x31);
    _mm256_storeu_ps(reinterpret_cast<float*>(out + i * out_row), low);
    _mm256_storeu_ps(reinterpret_cast<float*>(out + (i + 4) * out_row), high);
  }
}

template <>
inline void TransposeBlock<uint32_t>(const uint32_t* in, int64_t in_col, uint32_t* out,
                                     int64_t out_row, int64_t rows, int64_t cols) {
  const int64_t whole_rows = rows / 8 * 8;
  const int64_t whole_cols = cols / 8 * 8;
  for (int64_t r = 0; r < whole_rows; r += 8) {
    for (int64_t c = 0; c < whole_cols; c += 8) {
      Transpose8x8(in + c * in_col + r, in_col, out + r * out_row + c, out_row);
    }
  }
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = r < whole_rows ? whole_cols : 0; c < cols; ++c) {
      out[r * out_row + c] = in[c * in_col + r];
    }
  }
}
#endif

template <class T>
void TransposePlane(const CopyPlane& p) {
  const T* in = static_cast<const T*>(p.in);
  T* out = static_cast<T*>(p.out);
  for (int64_t r = 0; r < p.rows; r += kTransposeSide) {
    const int64_t rows = p.rows - r < kTransposeSide ? p.rows - r : kTransposeSide;
    for (int64_t c = 0; c < p.cols; c += kTransposeSide) {
      const int64_t cols = p.cols - c < kTransposeSide ? p.cols - c : kTransposeSide;
      TransposeBlock<T>(in + c * p.in_col + r, p.in_col, out + r * p.out_row + c, p.out_row, rows,
                        cols);
    }
  }
}

AICF_ISA_END
