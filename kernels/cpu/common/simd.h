/// One vector of f32 per instruction set, for the gemm and conv kernels. Everything lives in the
/// namespace of the instruction set (kernels/cpu/isa.h).
///
/// Fma is one rounding with AVX2 and AVX-512 and two on the baseline, which has no such
/// instruction; FmaRoundedOnce is one everywhere.
#pragma once

#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "base/float16.h"
#include "kernels/cpu/isa.h"

AICF_ISA_BEGIN

#define AICF_INLINE [[gnu::always_inline]] inline

#if defined(AICF_ISA_avx512)

inline constexpr int kLanes = 16;
using Vec = __m512;
using Mask = __mmask16;

// Where an intrinsic without a mask exists, the zero-masked form with all lanes makes the same
// instruction, and does not warn about the undefined source that GCC's headers give the other.
inline constexpr Mask kAllLanes = 0xffff;

AICF_INLINE Mask FirstLanes(int n) { return static_cast<Mask>((1u << n) - 1u); }
AICF_INLINE Vec Broadcast(float x) { return _mm512_set1_ps(x); }
AICF_INLINE Vec Load(const float* p) { return _mm512_loadu_ps(p); }
AICF_INLINE void Store(float* p, Vec v) { _mm512_storeu_ps(p, v); }
AICF_INLINE Vec LoadMasked(const float* p, Mask m) { return _mm512_maskz_loadu_ps(m, p); }
AICF_INLINE void StoreMasked(float* p, Mask m, Vec v) { _mm512_mask_storeu_ps(p, m, v); }
AICF_INLINE Vec Fma(Vec a, Vec b, Vec c) { return _mm512_fmadd_ps(a, b, c); }
AICF_INLINE Vec FmaRoundedOnce(Vec a, Vec b, Vec c) { return Fma(a, b, c); }
// The instruction returns its second operand when one of the two is NaN, so Min(bound, x) and
// Max(bound, x) are NaN where x is.
AICF_INLINE Vec Min(Vec bound, Vec x) { return _mm512_maskz_min_ps(kAllLanes, bound, x); }
AICF_INLINE Vec Max(Vec bound, Vec x) { return _mm512_maskz_max_ps(kAllLanes, bound, x); }
/// |x|, and |x| with the sign of `sign`.
AICF_INLINE Vec Magnitude(Vec x) {
  return _mm512_castsi512_ps(
      _mm512_and_epi32(_mm512_castps_si512(x), _mm512_set1_epi32(0x7fffffff)));
}
AICF_INLINE Vec CopySign(Vec x, Vec sign) {
  constexpr int kSignFromThird =
      0xca;  // where the first operand has a bit the second, else the third
  const __m512i magnitude = _mm512_set1_epi32(0x7fffffff);
  return _mm512_castsi512_ps(_mm512_ternarylogic_epi32(magnitude, _mm512_castps_si512(x),
                                                       _mm512_castps_si512(sign), kSignFromThird));
}
/// x rounded to the nearest integer, and x * 2^n.
AICF_INLINE Vec RoundNearest(Vec x) {
  return _mm512_maskz_roundscale_ps(kAllLanes, x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
AICF_INLINE Vec ScaleByPowerOfTwo(Vec x, Vec n) { return _mm512_maskz_scalef_ps(kAllLanes, x, n); }
/// 1 / x within 1 ULP for finite x >= 1. An estimate with one Newton step takes a third of the time
/// of a division.
AICF_INLINE Vec Reciprocal(Vec x) {
  const Vec estimate = _mm512_maskz_rcp14_ps(kAllLanes, x);
  return _mm512_fmadd_ps(estimate, _mm512_fnmadd_ps(x, estimate, _mm512_set1_ps(1.0f)), estimate);
}
AICF_INLINE Vec WidenHalf(const uint16_t* p) {
  return _mm512_maskz_cvtph_ps(kAllLanes, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
AICF_INLINE void NarrowHalf(uint16_t* p, Vec v) {
  _mm256_storeu_si256(
      reinterpret_cast<__m256i*>(p),
      _mm512_maskz_cvtps_ph(kAllLanes, v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

#elif defined(AICF_ISA_avx2)

inline constexpr int kLanes = 8;
using Vec = __m256;
using Mask = __m256i;

AICF_INLINE Mask FirstLanes(int n) {
  const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), lane);
}
AICF_INLINE Vec Broadcast(float x) { return _mm256_set1_ps(x); }
AICF_INLINE Vec Load(const float* p) { return _mm256_loadu_ps(p); }
AICF_INLINE void Store(float* p, Vec v) { _mm256_storeu_ps(p, v); }
AICF_INLINE Vec LoadMasked(const float* p, Mask m) { return _mm256_maskload_ps(p, m); }
AICF_INLINE void StoreMasked(float* p, Mask m, Vec v) { _mm256_maskstore_ps(p, m, v); }
AICF_INLINE Vec Fma(Vec a, Vec b, Vec c) { return _mm256_fmadd_ps(a, b, c); }
AICF_INLINE Vec FmaRoundedOnce(Vec a, Vec b, Vec c) { return Fma(a, b, c); }
AICF_INLINE Vec Min(Vec bound, Vec x) { return _mm256_min_ps(bound, x); }
AICF_INLINE Vec Max(Vec bound, Vec x) { return _mm256_max_ps(bound, x); }
AICF_INLINE Vec Magnitude(Vec x) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), x); }
AICF_INLINE Vec CopySign(Vec x, Vec sign) {
  return _mm256_or_ps(Magnitude(x), _mm256_and_ps(_mm256_set1_ps(-0.0f), sign));
}
AICF_INLINE Vec RoundNearest(Vec x) {
  return _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
// REQUIRES: n is an integer, |n| <= 252. The power is applied as two factors, so that results near
// the ends of the range stay exact.
AICF_INLINE Vec ScaleByPowerOfTwo(Vec x, Vec n) {
  const __m256i whole = _mm256_cvtps_epi32(n);
  const __m256i half = _mm256_srai_epi32(whole, 1);
  const auto power = [](__m256i e) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(e, _mm256_set1_epi32(127)), 23));
  };
  return _mm256_mul_ps(_mm256_mul_ps(x, power(half)), power(_mm256_sub_epi32(whole, half)));
}
AICF_INLINE Vec Reciprocal(Vec x) { return _mm256_set1_ps(1.0f) / x; }
AICF_INLINE Vec WidenHalf(const uint16_t* p) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
AICF_INLINE void NarrowHalf(uint16_t* p, Vec v) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p),
                   _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

#else

inline constexpr int kLanes = 4;
using Vec = __m128;
using Mask = int;  // number of leading lanes

AICF_INLINE Mask FirstLanes(int n) { return n; }
AICF_INLINE Vec Broadcast(float x) { return _mm_set1_ps(x); }
AICF_INLINE Vec Load(const float* p) { return _mm_loadu_ps(p); }
AICF_INLINE void Store(float* p, Vec v) { _mm_storeu_ps(p, v); }
AICF_INLINE Vec LoadMasked(const float* p, Mask m) {
  alignas(16) float lanes[4] = {};
  for (int i = 0; i < m; ++i) lanes[i] = p[i];
  return _mm_load_ps(lanes);
}
AICF_INLINE void StoreMasked(float* p, Mask m, Vec v) {
  if (m == 4) return _mm_storeu_ps(p, v);
  alignas(16) float lanes[4];
  _mm_store_ps(lanes, v);
  for (int i = 0; i < m; ++i) p[i] = lanes[i];
}
AICF_INLINE Vec Fma(Vec a, Vec b, Vec c) { return _mm_add_ps(_mm_mul_ps(a, b), c); }
inline Vec FmaRoundedOnce(Vec a, Vec b, Vec c) {
  Vec sum;
  for (int i = 0; i < kLanes; ++i) sum[i] = __builtin_fmaf(a[i], b[i], c[i]);
  return sum;
}
AICF_INLINE Vec Min(Vec bound, Vec x) { return _mm_min_ps(bound, x); }
AICF_INLINE Vec Max(Vec bound, Vec x) { return _mm_max_ps(bound, x); }
AICF_INLINE Vec Magnitude(Vec x) { return _mm_andnot_ps(_mm_set1_ps(-0.0f), x); }
AICF_INLINE Vec CopySign(Vec x, Vec sign) {
  return _mm_or_ps(Magnitude(x), _mm_and_ps(_mm_set1_ps(-0.0f), sign));
}
// REQUIRES: |x| < 2^31.
AICF_INLINE Vec RoundNearest(Vec x) { return _mm_cvtepi32_ps(_mm_cvtps_epi32(x)); }
// REQUIRES: |n| <= 252, an integer.
AICF_INLINE Vec ScaleByPowerOfTwo(Vec x, Vec n) {
  const __m128i whole = _mm_cvtps_epi32(n);
  const __m128i half = _mm_srai_epi32(whole, 1);
  const auto power = [](__m128i e) {
    return _mm_castsi128_ps(_mm_slli_epi32(_mm_add_epi32(e, _mm_set1_epi32(127)), 23));
  };
  return _mm_mul_ps(_mm_mul_ps(x, power(half)), power(_mm_sub_epi32(whole, half)));
}
AICF_INLINE Vec Reciprocal(Vec x) { return _mm_set1_ps(1.0f) / x; }
AICF_INLINE Vec WidenHalf(const uint16_t* p) {
  return _mm_setr_ps(F16ToF32(p[0]), F16ToF32(p[1]), F16ToF32(p[2]), F16ToF32(p[3]));
}
AICF_INLINE void NarrowHalf(uint16_t* p, Vec v) {
  alignas(16) float lanes[4];
  _mm_store_ps(lanes, v);
  for (int i = 0; i < 4; ++i) p[i] = F32ToF16(lanes[i]);
}

#endif

AICF_ISA_END
