/// Vector conversions of f16 and bf16, bit for bit those of base/float16.h except that the
/// hardware makes signalling NaNs quiet. For *.isa.cc files only.
#pragma once

#include <cstdint>

#include "kernels/cpu/isa.h"

#if defined(AICF_ISA_avx2) || defined(AICF_ISA_avx512)
#include <immintrin.h>
#else
#include "base/float16.h"
#endif

AICF_ISA_BEGIN

static inline float FloatOfBits(uint32_t bits) {
  float f;
  __builtin_memcpy(&f, &bits, sizeof f);
  return f;
}

static inline uint32_t BitsOfFloat(float f) {
  uint32_t bits;
  __builtin_memcpy(&bits, &f, sizeof bits);
  return bits;
}

static inline float WidenOneBF16(uint16_t b) { return FloatOfBits(static_cast<uint32_t>(b) << 16); }

static inline uint16_t NarrowOneBF16(float f) {
  const uint32_t bits = BitsOfFloat(f);
  const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const uint32_t quiet = (bits >> 16) | 0x40u;
  return static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? quiet : rounded);
}

static inline void WidenBF16(const uint16_t* from, float* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] = WidenOneBF16(from[i]);
}

static inline void NarrowBF16(const float* from, uint16_t* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] = NarrowOneBF16(from[i]);
}

#if defined(AICF_ISA_avx2) || defined(AICF_ISA_avx512)

static inline float WidenOneF16(uint16_t h) { return _cvtsh_ss(h); }
static inline uint16_t NarrowOneF16(float f) {
  return static_cast<uint16_t>(_cvtss_sh(f, _MM_FROUND_TO_NEAREST_INT));
}

static inline void WidenF16(const uint16_t* from, float* to, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const __m128i h = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i));
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(h));
  }
  for (; i < n; ++i) to[i] = WidenOneF16(from[i]);
}

static inline void NarrowF16(const float* from, uint16_t* to, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const __m128i h = _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), h);
  }
  for (; i < n; ++i) to[i] = NarrowOneF16(from[i]);
}

#else

static inline float WidenOneF16(uint16_t h) { return F16ToF32(h); }
static inline uint16_t NarrowOneF16(float f) { return F32ToF16(f); }

static inline void WidenF16(const uint16_t* from, float* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] = F16ToF32(from[i]);
}

static inline void NarrowF16(const float* from, uint16_t* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] = F32ToF16(from[i]);
}

#endif

AICF_ISA_END
