/// Vectors of sixteen columns of 32 bits each, with which the products with blocks are written: one
/// register with AVX-512, two with AVX2. For *.isa.cc files only (kernels/cpu/isa.h).
#pragma once

#include "kernels/cpu/common/simd.h"

AICF_ISA_BEGIN

#if defined(AICF_ISA_avx512)

struct Words {
  __m512i all;
};
struct Floats {
  __m512 all;
};

AICF_INLINE Words LoadWords(const void* p) { return {_mm512_loadu_si512(p)}; }
AICF_INLINE void StoreWords(void* p, Words w) { _mm512_storeu_si512(p, w.all); }
AICF_INLINE Words RepeatWord(int32_t x) { return {_mm512_set1_epi32(x)}; }
AICF_INLINE Words operator&(Words a, Words b) { return {_mm512_and_si512(a.all, b.all)}; }
AICF_INLINE Words operator|(Words a, Words b) { return {_mm512_or_si512(a.all, b.all)}; }
AICF_INLINE Words operator^(Words a, Words b) { return {_mm512_xor_si512(a.all, b.all)}; }
AICF_INLINE Words operator-(Words a, Words b) { return {_mm512_sub_epi32(a.all, b.all)}; }
AICF_INLINE Words ShiftRight(Words a, int bits) {
  return {_mm512_maskz_srli_epi32(kAllLanes, a.all, static_cast<unsigned>(bits))};
}
AICF_INLINE Words ShiftLeft(Words a, int bits) {
  return {_mm512_maskz_slli_epi32(kAllLanes, a.all, static_cast<unsigned>(bits))};
}
/// Byte i of every word, with its sign.
AICF_INLINE Words SignedByte(Words a, int i) {
  const __m512i top = _mm512_maskz_slli_epi32(kAllLanes, a.all, static_cast<unsigned>(24 - 8 * i));
  return {_mm512_maskz_srai_epi32(kAllLanes, top, 24)};
}
/// Byte i of a word is 16 where bit 4 * quad + i of it is set, else 0.
AICF_INLINE Words SpreadBits(Words a, int quad) {
  const __m512i byte = _mm512_set1_epi32(quad / 2 * 0x01010101);
  const __m512i lanes = _mm512_maskz_broadcast_i32x4(
      kAllLanes, _mm_setr_epi32(0, 0x04040404, 0x08080808, 0x0c0c0c0c));
  const __m512i copies = _mm512_shuffle_epi8(a.all, _mm512_add_epi32(lanes, byte));
  const __m512i bits = _mm512_set1_epi32(quad % 2 == 0 ? 0x08040201 : static_cast<int>(0x80402010));
  return {_mm512_maskz_mov_epi8(_mm512_test_epi8_mask(copies, bits), _mm512_set1_epi8(16))};
}
AICF_INLINE Floats ToFloats(Words a) { return {_mm512_maskz_cvtepi32_ps(kAllLanes, a.all)}; }
AICF_INLINE Floats LoadHalves(const uint16_t* p) { return {WidenHalf(p)}; }
/// Sixteen bf16.
AICF_INLINE Floats LoadBrains(const uint16_t* p) {
  const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  const Words wide = {_mm512_maskz_cvtepu16_epi32(kAllLanes, bits)};
  return {_mm512_castsi512_ps(ShiftLeft(wide, 16).all)};
}
AICF_INLINE Floats LoadFloats(const float* p) { return {Load(p)}; }
AICF_INLINE void StoreFloats(float* p, Floats f) { Store(p, f.all); }
AICF_INLINE Floats RepeatFloat(float x) { return {Broadcast(x)}; }
AICF_INLINE Floats operator+(Floats a, Floats b) { return {_mm512_add_ps(a.all, b.all)}; }
AICF_INLINE Floats operator*(Floats a, Floats b) { return {_mm512_mul_ps(a.all, b.all)}; }
AICF_INLINE Floats MulAdd(Floats a, Floats b, Floats c) { return {Fma(a.all, b.all, c.all)}; }

/// The nearest integers, the even one where two are equally near. Numbers outside the range of i32
/// give an unspecified integer.
AICF_INLINE Words RoundToWords(Floats a) { return {_mm512_maskz_cvtps_epi32(kAllLanes, a.all)}; }
/// The bits of each magnitude as an integer; these integers compare as the magnitudes do.
AICF_INLINE Words MagnitudeBits(Floats a) {
  return {_mm512_and_si512(_mm512_castps_si512(a.all), _mm512_set1_epi32(0x7fffffff))};
}
AICF_INLINE Words Larger(Words a, Words b) {
  return {_mm512_maskz_max_epi32(kAllLanes, a.all, b.all)};
}
AICF_INLINE Words operator+(Words a, Words b) { return {_mm512_add_epi32(a.all, b.all)}; }
AICF_INLINE __m256i LowHalf(Words a) { return _mm512_maskz_extracti64x4_epi64(0xff, a.all, 0); }
AICF_INLINE __m256i HighHalf(Words a) { return _mm512_maskz_extracti64x4_epi64(0xff, a.all, 1); }
/// The lowest byte of each word.
AICF_INLINE void StoreBytes(int8_t* p, Words a) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_maskz_cvtepi32_epi8(kAllLanes, a.all));
}

/// sum + the four products of each word's bytes, where the bytes of `codes` are unsigned and those
/// of `a` signed. The result is exact. Without VNNI, pairs of products are summed in 16 bits, which
/// products of codes of seven bits cannot overflow; for codes of eight bits, the products of the
/// highest bit are summed apart.
template <bool kEightBits>
AICF_INLINE Words Dot(Words sum, Words codes, Words a) {
#if defined(AICF_ISA_avx512vnni)
  return {_mm512_dpbusd_epi32(sum.all, codes.all, a.all)};
#else
  const __m512i ones = _mm512_set1_epi16(1);
  const auto add = [&](__m512i to, __m512i some) {
    return _mm512_add_epi32(to, _mm512_madd_epi16(_mm512_maddubs_epi16(some, a.all), ones));
  };
  if constexpr (!kEightBits) return {add(sum.all, codes.all)};
  const __m512i low = _mm512_and_si512(codes.all, _mm512_set1_epi8(0x7f));
  return {add(add(sum.all, low), _mm512_xor_si512(codes.all, low))};
#endif
}

#elif defined(AICF_ISA_avx2)

struct Words {
  __m256i low, high;
};
struct Floats {
  __m256 low, high;
};

AICF_INLINE Words LoadWords(const void* p) {
  const auto* v = static_cast<const __m256i*>(p);
  return {_mm256_loadu_si256(v), _mm256_loadu_si256(v + 1)};
}
AICF_INLINE void StoreWords(void* p, Words w) {
  auto* v = static_cast<__m256i*>(p);
  _mm256_storeu_si256(v, w.low);
  _mm256_storeu_si256(v + 1, w.high);
}
AICF_INLINE Words RepeatWord(int32_t x) {
  const __m256i all = _mm256_set1_epi32(x);
  return {all, all};
}
AICF_INLINE Words operator&(Words a, Words b) {
  return {_mm256_and_si256(a.low, b.low), _mm256_and_si256(a.high, b.high)};
}
AICF_INLINE Words operator|(Words a, Words b) {
  return {_mm256_or_si256(a.low, b.low), _mm256_or_si256(a.high, b.high)};
}
AICF_INLINE Words operator^(Words a, Words b) {
  return {_mm256_xor_si256(a.low, b.low), _mm256_xor_si256(a.high, b.high)};
}
AICF_INLINE Words operator-(Words a, Words b) {
  return {_mm256_sub_epi32(a.low, b.low), _mm256_sub_epi32(a.high, b.high)};
}
AICF_INLINE Words ShiftRight(Words a, int bits) {
  return {_mm256_srli_epi32(a.low, bits), _mm256_srli_epi32(a.high, bits)};
}
AICF_INLINE Words ShiftLeft(Words a, int bits) {
  return {_mm256_slli_epi32(a.low, bits), _mm256_slli_epi32(a.high, bits)};
}
AICF_INLINE Words SignedByte(Words a, int i) {
  const Words top = ShiftLeft(a, 24 - 8 * i);
  return {_mm256_srai_epi32(top.low, 24), _mm256_srai_epi32(top.high, 24)};
}
AICF_INLINE Words SpreadBits(Words a, int quad) {
  const __m256i byte = _mm256_set1_epi32(quad / 2 * 0x01010101);
  const __m256i lanes = _mm256_setr_epi32(0, 0x04040404, 0x08080808, 0x0c0c0c0c, 0, 0x04040404,
                                          0x08080808, 0x0c0c0c0c);
  const __m256i bits = _mm256_set1_epi32(quad % 2 == 0 ? 0x08040201 : static_cast<int>(0x80402010));
  const auto spread = [&](__m256i word) {
    const __m256i copies = _mm256_shuffle_epi8(word, _mm256_add_epi32(lanes, byte));
    const __m256i set = _mm256_cmpeq_epi8(_mm256_and_si256(copies, bits), bits);
    return _mm256_and_si256(set, _mm256_set1_epi8(16));
  };
  return {spread(a.low), spread(a.high)};
}
AICF_INLINE Floats ToFloats(Words a) {
  return {_mm256_cvtepi32_ps(a.low), _mm256_cvtepi32_ps(a.high)};
}
AICF_INLINE Floats LoadHalves(const uint16_t* p) { return {WidenHalf(p), WidenHalf(p + 8)}; }
AICF_INLINE Floats LoadBrains(const uint16_t* p) {
  const auto* v = reinterpret_cast<const __m128i*>(p);
  const Words wide = {_mm256_cvtepu16_epi32(_mm_loadu_si128(v)),
                      _mm256_cvtepu16_epi32(_mm_loadu_si128(v + 1))};
  const Words bits = ShiftLeft(wide, 16);
  return {_mm256_castsi256_ps(bits.low), _mm256_castsi256_ps(bits.high)};
}
AICF_INLINE Floats LoadFloats(const float* p) { return {Load(p), Load(p + 8)}; }
AICF_INLINE void StoreFloats(float* p, Floats f) {
  Store(p, f.low);
  Store(p + 8, f.high);
}
AICF_INLINE Floats RepeatFloat(float x) { return {Broadcast(x), Broadcast(x)}; }
AICF_INLINE Floats operator+(Floats a, Floats b) {
  return {_mm256_add_ps(a.low, b.low), _mm256_add_ps(a.high, b.high)};
}
AICF_INLINE Floats operator*(Floats a, Floats b) {
  return {_mm256_mul_ps(a.low, b.low), _mm256_mul_ps(a.high, b.high)};
}
AICF_INLINE Floats MulAdd(Floats a, Floats b, Floats c) {
  return {Fma(a.low, b.low, c.low), Fma(a.high, b.high, c.high)};
}

AICF_INLINE Words RoundToWords(Floats a) {
  return {_mm256_cvtps_epi32(a.low), _mm256_cvtps_epi32(a.high)};
}
AICF_INLINE Words MagnitudeBits(Floats a) {
  const __m256i mask = _mm256_set1_epi32(0x7fffffff);
  return {_mm256_and_si256(_mm256_castps_si256(a.low), mask),
          _mm256_and_si256(_mm256_castps_si256(a.high), mask)};
}
AICF_INLINE Words Larger(Words a, Words b) {
  return {_mm256_max_epi32(a.low, b.low), _mm256_max_epi32(a.high, b.high)};
}
AICF_INLINE Words operator+(Words a, Words b) {
  return {_mm256_add_epi32(a.low, b.low), _mm256_add_epi32(a.high, b.high)};
}
AICF_INLINE __m256i LowHalf(Words a) { return a.low; }
AICF_INLINE __m256i HighHalf(Words a) { return a.high; }
// REQUIRES: words are bytes with a sign.
AICF_INLINE void StoreBytes(int8_t* p, Words a) {
  const __m256i pairs = _mm256_packs_epi32(a.low, a.high);  // 0-3 8-11 4-7 12-15
  const __m256i order = _mm256_permute4x64_epi64(pairs, 0xd8);
  const __m128i low = _mm256_castsi256_si128(order), high = _mm256_extracti128_si256(order, 1);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm_packs_epi16(low, high));
}

template <bool kEightBits>
AICF_INLINE Words Dot(Words sum, Words codes, Words a) {
  const __m256i ones = _mm256_set1_epi16(1);
  const auto add = [&](__m256i to, __m256i some, __m256i by) {
    return _mm256_add_epi32(to, _mm256_madd_epi16(_mm256_maddubs_epi16(some, by), ones));
  };
  if constexpr (!kEightBits) {
    return {add(sum.low, codes.low, a.low), add(sum.high, codes.high, a.high)};
  }
  const __m256i top = _mm256_set1_epi8(static_cast<char>(0x80));
  const auto both = [&](__m256i to, __m256i some, __m256i by) {
    return add(add(to, _mm256_andnot_si256(top, some), by), _mm256_and_si256(some, top), by);
  };
  return {both(sum.low, codes.low, a.low), both(sum.high, codes.high, a.high)};
}

#endif

#if !defined(AICF_ISA_baseline)

AICF_INLINE int32_t LargestOf(Words a) {
  const __m256i eight = _mm256_max_epi32(LowHalf(a), HighHalf(a));
  __m128i four = _mm_max_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
  four = _mm_max_epi32(four, _mm_shuffle_epi32(four, 0x4e));
  return _mm_cvtsi128_si32(_mm_max_epi32(four, _mm_shuffle_epi32(four, 0xb1)));
}
AICF_INLINE int32_t SumOf(Words a) {
  const __m256i eight = _mm256_add_epi32(LowHalf(a), HighHalf(a));
  __m128i four = _mm_add_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
  four = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4e));
  return _mm_cvtsi128_si32(_mm_add_epi32(four, _mm_shuffle_epi32(four, 0xb1)));
}

#endif

AICF_ISA_END
