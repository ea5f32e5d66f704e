// The two operands of cuda.blockgemm.gemv and cuda.blockgemm.decode as tensor cores multiply them:
// every element as one or several 16-bit numbers that add up to it exactly (but see PartsOfX).
//
// A code of b bits becomes the number 1 + code / 2^b: its bits are put into the upper mantissa bits
// of a 16-bit 1, which takes one instruction for two elements and no conversion. What these numbers
// are too large by is taken from the sum of each group (vectors.cuh, panel_sums.cuh).
//
// An element x of A is the sum of up to three 16-bit parts, each of which is multiplied as a row of
// its own.
#pragma once

#include "blockgemm/shape.cuh"

// The header below uses the product's constants of shape.cuh.
#include "blockgemm/packed.cuh"

namespace aicf {

constexpr bool kXIsF16 = kSame<In0::S, f16>, kXIsF32 = kSame<In0::S, float>;
constexpr bool kWideB = kFormat == block_format::kBF16 || kFormat == block_format::kF32;
/// Whether the 16-bit numbers are f16; otherwise they are bf16, which has the range of f32.
constexpr bool kHalves = !kWideB && (kXIsF16 || (kXIsF32 && kMath == kFp16));
/// Number of 16-bit parts whose sum is exactly x. An f32 has fewer parts where the math mode allows
/// rounding it.
AICF_DEVICE constexpr int PartsOfX() {
  if (kHalves) return 1;
  if (kXIsF16) return 2;
  if (!kXIsF32) return 1;
  return kMath == kFp32 ? 3 : kMath == kFp16 ? 2 : 1;
}
constexpr int kXParts = PartsOfX();

constexpr int kMantissa = kHalves ? 10 : 7;
constexpr u32 kOnes = kHalves ? 0x3c003c00u : 0x3f803f80u;
/// Number of 16-bit terms whose sum is an element of B.
AICF_DEVICE constexpr int TermsOfB() {
  if (kFormat == block_format::kF32) return 3;
  if (kFormat == block_format::kF16) return kHalves ? 1 : 2;
  return Chunk::kBits == 8 && !kHalves ? 2 : 1;
}
constexpr int kTerms = TermsOfB();

/// An element's number is kBias + code / 2^bits.
constexpr float kBias = Chunk::kBits == 8 && !kHalves ? 1.5f : 1.0f;
constexpr float kUnit = Chunk::kGroups > 0 ? static_cast<float>(1 << (Chunk::kBits & 15)) : 1.0f;
/// The number that a code for the value 0 becomes.
constexpr float kCentre = kBias + static_cast<float>(Chunk::kZero) / kUnit;

/// The upper halves of two f32 as a pair of bf16.
AICF_DEVICE u32 UpperHalves(float low, float high) {
  return __float_as_uint(low) >> 16 | (__float_as_uint(high) & 0xffff0000u);
}
/// What an f32 has below its upper half, exactly.
AICF_DEVICE float BelowUpperHalf(float value) {
  return value - __uint_as_float(__float_as_uint(value) & 0xffff0000u);
}

/// Two f32 as sums of N pairs of bf16.
template <int N>
AICF_DEVICE void SplitPair(float low, float high, u32 (&parts)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) {
    parts[i] = UpperHalves(low, high);
    low = BelowUpperHalf(low);
    high = BelowUpperHalf(high);
  }
}

/// Pair p of a lane as kTerms pairs.
AICF_DEVICE void PairOfB(const LaneCodes& codes, int p, u32 (&terms)[kTerms]) {
  if constexpr (kFormat == block_format::kF32) {
    SplitPair(__uint_as_float(codes.low[2 * p]), __uint_as_float(codes.low[2 * p + 1]), terms);
  } else if constexpr (kFormat == block_format::kF16 && !kHalves) {
    SplitPair(LowHalf(codes.low[p]), HighHalf(codes.low[p]), terms);
  } else if constexpr (Chunk::kGroups == 0) {
    terms[0] = codes.low[p];
  } else if constexpr (kTerms == 2) {
    // A code of 8 bits has one bit too many for the mantissa of bf16: its lowest bit becomes a term
    // of its own. Codes are stored signed, and flipping the highest bit makes them unsigned.
    terms[0] = PairBits<8, 1, 7, 0>(codes.low, p, kOnes ^ 0x00400040u);
    terms[1] = PairBits<8, 0, 1, 0>(codes.low, p, 0x3f003f00u);
  } else if constexpr (Chunk::kBits == 8) {
    terms[0] = PairBits<8, 0, 8, 2>(codes.low, p, kOnes ^ 0x02000200u);
  } else {
    constexpr int kTo = kMantissa - Chunk::kBits;
    terms[0] = PairBits<Chunk::kLow, 0, Chunk::kLow, kTo>(codes.low, p, kOnes);
    if constexpr (Chunk::kHigh > 0) {
      terms[0] =
          PairBits<Chunk::kHigh, 0, Chunk::kHigh, kTo + Chunk::kLow>(codes.high, p, terms[0]);
    }
  }
}

/// Splits two values of x into pairs of their parts. Changes x to the values that these parts add
/// up to.
AICF_DEVICE void PairOfX(float (&x)[2], u32 (&parts)[kXParts]) {
  if constexpr (kXParts > 1) {
    SplitPair(x[0], x[1], parts);
    if constexpr (kXParts == 2 && kXIsF32) {
#pragma unroll
      for (int j = 0; j < 2; ++j) x[j] = x[j] - BelowUpperHalf(BelowUpperHalf(x[j]));
    }
  } else {
    u32 bits[2];
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      bits[j] = kHalves ? F32ToF16(x[j]) : F32ToBF16(x[j]);
      x[j] = kHalves ? F16ToF32(static_cast<u16>(bits[j])) : __uint_as_float(bits[j] << 16);
    }
    parts[0] = bits[0] | bits[1] << 16;
  }
}

AICF_DEVICE void MultiplyPairs(float (&c)[4], const u32 (&a)[4], const u32 (&b)[2]) {
  if constexpr (kHalves)
    MmaF16(c, a, b);
  else
    MmaBF16(c, a, b);
}

}  // namespace aicf
