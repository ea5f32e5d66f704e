/// One vector of 32-bit lanes that hold integers, and products of cells (igemm.h, IntegerForm) that
/// are summed into such lanes. For *.isa.cc files only.
///
/// All forms give the exact sum modulo 2^32, whatever the instruction set. The instruction for
/// products of bytes that AVX2 has (vpmaddubsw) saturates its sums of two at 16 bits, so it is not
/// used: without VNNI bytes are widened to words, of which pmaddwd sums two products exactly.
#pragma once

#include "kernels/cpu/common/simd.h"

AICF_ISA_BEGIN

#if defined(AICF_ISA_avx512)

using IntVec = __m512i;
AICF_INLINE IntVec LoadInts(const float* p) { return _mm512_loadu_si512(p); }
AICF_INLINE void StoreInts(float* p, IntVec v) { _mm512_storeu_si512(p, v); }
AICF_INLINE IntVec RepeatInt(int32_t x) { return _mm512_set1_epi32(x); }
AICF_INLINE IntVec AddInts(IntVec a, IntVec b) { return _mm512_add_epi32(a, b); }
AICF_INLINE IntVec Xor(IntVec a, IntVec b) { return _mm512_xor_si512(a, b); }
AICF_INLINE IntVec And(IntVec a, IntVec b) { return _mm512_and_si512(a, b); }
AICF_INLINE IntVec PairProducts(IntVec a, IntVec b) { return _mm512_madd_epi16(a, b); }
AICF_INLINE IntVec HighBytes(IntVec a) { return _mm512_srli_epi16(a, 8); }
AICF_INLINE IntVec SignedHighBytes(IntVec a) { return _mm512_srai_epi16(a, 8); }
AICF_INLINE IntVec SignedLowBytes(IntVec a) {
  return _mm512_srai_epi16(_mm512_slli_epi16(a, 8), 8);
}

#elif defined(AICF_ISA_avx2)

using IntVec = __m256i;
AICF_INLINE IntVec LoadInts(const float* p) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}
AICF_INLINE void StoreInts(float* p, IntVec v) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v);
}
AICF_INLINE IntVec RepeatInt(int32_t x) { return _mm256_set1_epi32(x); }
AICF_INLINE IntVec AddInts(IntVec a, IntVec b) { return _mm256_add_epi32(a, b); }
AICF_INLINE IntVec Xor(IntVec a, IntVec b) { return _mm256_xor_si256(a, b); }
AICF_INLINE IntVec And(IntVec a, IntVec b) { return _mm256_and_si256(a, b); }
AICF_INLINE IntVec PairProducts(IntVec a, IntVec b) { return _mm256_madd_epi16(a, b); }
AICF_INLINE IntVec HighBytes(IntVec a) { return _mm256_srli_epi16(a, 8); }
AICF_INLINE IntVec SignedHighBytes(IntVec a) { return _mm256_srai_epi16(a, 8); }
AICF_INLINE IntVec SignedLowBytes(IntVec a) {
  return _mm256_srai_epi16(_mm256_slli_epi16(a, 8), 8);
}

#else

using IntVec = __m128i;
AICF_INLINE IntVec LoadInts(const float* p) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
}
AICF_INLINE void StoreInts(float* p, IntVec v) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), v);
}
AICF_INLINE IntVec RepeatInt(int32_t x) { return _mm_set1_epi32(x); }
AICF_INLINE IntVec AddInts(IntVec a, IntVec b) { return _mm_add_epi32(a, b); }
AICF_INLINE IntVec Xor(IntVec a, IntVec b) { return _mm_xor_si128(a, b); }
AICF_INLINE IntVec And(IntVec a, IntVec b) { return _mm_and_si128(a, b); }
AICF_INLINE IntVec PairProducts(IntVec a, IntVec b) { return _mm_madd_epi16(a, b); }
AICF_INLINE IntVec HighBytes(IntVec a) { return _mm_srli_epi16(a, 8); }
AICF_INLINE IntVec SignedHighBytes(IntVec a) { return _mm_srai_epi16(a, 8); }
AICF_INLINE IntVec SignedLowBytes(IntVec a) { return _mm_srai_epi16(_mm_slli_epi16(a, 8), 8); }

#endif

/// Each lane as f32, rounded to the nearest.
AICF_INLINE Vec FloatsOf(IntVec v) {
#if defined(AICF_ISA_avx512)
  return _mm512_maskz_cvtepi32_ps(kAllLanes, v);
#elif defined(AICF_ISA_avx2)
  return _mm256_cvtepi32_ps(v);
#else
  return _mm_cvtepi32_ps(v);
#endif
}

/// Truncates each lane to an integer. Numbers outside the range of i32, and NaN, give -2^31.
AICF_INLINE IntVec IntsOf(Vec v) {
#if defined(AICF_ISA_avx512)
  return _mm512_maskz_cvttps_epi32(kAllLanes, v);
#elif defined(AICF_ISA_avx2)
  return _mm256_cvttps_epi32(v);
#else
  return _mm_cvttps_epi32(v);
#endif
}

/// v, with 0 in the place of NaN.
AICF_INLINE Vec NumberOrZero(Vec v) {
#if defined(AICF_ISA_avx512)
  return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(v, v, _CMP_ORD_Q), v);
#elif defined(AICF_ISA_avx2)
  return _mm256_and_ps(_mm256_cmp_ps(v, v, _CMP_ORD_Q), v);
#else
  return _mm_and_ps(_mm_cmpord_ps(v, v), v);
#endif
}

/// Truncates each lane to a whole number. REQUIRES: magnitudes below 2^31.
AICF_INLINE Vec WholePart(Vec v) { return FloatsOf(IntsOf(v)); }

/// Stores whole numbers within the range of u8 or of i8 as bytes; NaN is stored as 0.
AICF_INLINE void StoreBytes(void* p, Vec v) {
#if defined(AICF_ISA_avx512)
  const __m512i whole = _mm512_maskz_cvttps_epi32(kAllLanes, v);
  _mm_storeu_si128(static_cast<__m128i*>(p), _mm512_maskz_cvtepi32_epi8(kAllLanes, whole));
#elif defined(AICF_ISA_avx2)
  // Only the lowest byte counts: NaN, which becomes -2^31, has 0 there.
  const __m256i bytes = _mm256_and_si256(_mm256_cvttps_epi32(v), _mm256_set1_epi32(0xff));
  const __m128i words =
      _mm_packs_epi32(_mm256_castsi256_si128(bytes), _mm256_extracti128_si256(bytes, 1));
  _mm_storel_epi64(static_cast<__m128i*>(p), _mm_packus_epi16(words, words));
#else
  const __m128i bytes = _mm_and_si128(_mm_cvttps_epi32(v), _mm_set1_epi32(0xff));
  const __m128i words = _mm_packs_epi32(bytes, bytes);
  const int32_t four = _mm_cvtsi128_si32(_mm_packus_epi16(words, words));
  std::memcpy(p, &four, sizeof(four));
#endif
}

/// The first `count` of kLanes bytes as f32; no other bytes are read. REQUIRES: 0 < count.
AICF_INLINE Vec WidenBytes(const void* p, int count, bool is_signed) {
#if defined(AICF_ISA_avx512)
  const __m128i bytes = _mm_maskz_loadu_epi8(FirstLanes(count), p);
  const __m512i wide = is_signed ? _mm512_maskz_cvtepi8_epi32(kAllLanes, bytes)
                                 : _mm512_maskz_cvtepu8_epi32(kAllLanes, bytes);
  return FloatsOf(wide);
#else
  alignas(16) uint8_t bytes[16] = {};
  std::memcpy(bytes, p, static_cast<size_t>(count));
  const __m128i all = _mm_load_si128(reinterpret_cast<const __m128i*>(bytes));
#if defined(AICF_ISA_avx2)
  return FloatsOf(is_signed ? _mm256_cvtepi8_epi32(all) : _mm256_cvtepu8_epi32(all));
#else
  // Each byte is the highest of its lane, and is shifted down with its sign or without.
  const __m128i pairs = _mm_unpacklo_epi8(_mm_setzero_si128(), all);
  const __m128i high = _mm_unpacklo_epi16(_mm_setzero_si128(), pairs);
  return FloatsOf(is_signed ? _mm_srai_epi32(high, 24) : _mm_srli_epi32(high, 24));
#endif
#endif
}

/// table[i] for each lane i.
AICF_INLINE Vec TableAt(const float* table, IntVec i) {
#if defined(AICF_ISA_avx512)
  return _mm512_mask_i32gather_ps(Broadcast(0.0f), kAllLanes, i, table, sizeof(float));
#elif defined(AICF_ISA_avx2)
  return _mm256_i32gather_ps(table, i, sizeof(float));
#else
  alignas(16) int32_t at[kLanes];
  _mm_store_si128(reinterpret_cast<__m128i*>(at), i);
  return _mm_setr_ps(table[at[0]], table[at[1]], table[at[2]], table[at[3]]);
#endif
}

/// A cell of x in every lane. `p` needs no alignment.
AICF_INLINE IntVec RepeatCell(const float* p) {
  int32_t bits;
  std::memcpy(&bits, p, sizeof(bits));
  return RepeatInt(bits);
}

/// Two i16 in each lane.
struct WordProducts {
  using Left = IntVec;
  using Right = IntVec;
  AICF_INLINE static Left OfX(IntVec x) { return x; }
  AICF_INLINE static Right OfB(IntVec b) { return b; }
  AICF_INLINE static IntVec Add(IntVec sum, Left x, Right b) {
#if defined(AICF_ISA_avx512vnni)
    return _mm512_dpwssd_epi32(sum, x, b);
#else
    return AddInts(sum, PairProducts(x, b));
#endif
  }
};

/// Four bytes in each lane: those of x unsigned, those of B signed.
#if defined(AICF_ISA_avx512vnni)
struct ByteProducts {
  using Left = IntVec;
  using Right = IntVec;
  AICF_INLINE static Left OfX(IntVec x) { return x; }
  AICF_INLINE static Right OfB(IntVec b) { return b; }
  AICF_INLINE static IntVec Add(IntVec sum, Left x, Right b) {
    return _mm512_dpbusd_epi32(sum, x, b);
  }
};
#else
struct ByteProducts {
  struct Left {
    IntVec low, high;
  };
  using Right = Left;
  AICF_INLINE static Left OfX(IntVec x) { return {And(x, RepeatInt(0x00ff00ff)), HighBytes(x)}; }
  AICF_INLINE static Right OfB(IntVec b) { return {SignedLowBytes(b), SignedHighBytes(b)}; }
  AICF_INLINE static IntVec Add(IntVec sum, Left x, Right b) {
    return AddInts(sum, AddInts(PairProducts(x.low, b.low), PairProducts(x.high, b.high)));
  }
};
#endif

AICF_ISA_END
