/// Functions of a vector that epilogues need in registers. Their accuracy is the kTile rows of
/// common/vector_functions.def, which a test enforces.
#pragma once

#include "kernels/cpu/gemm/simd.h"

AICF_ISA_BEGIN

/// e^x for -104 <= x <= 88, within 3 ULP; NaN stays NaN.
AICF_INLINE Vec ExpInRange(Vec x) {
  const Vec n = RoundNearest(x * Broadcast(1.44269504f));
  // ln 2 in two parts: n times the first is exact for |n| < 2^9.
  Vec r = Fma(n, Broadcast(-0.693359375f), x);
  r = Fma(n, Broadcast(2.12194440e-4f), r);
  // Taylor: |r| <= ln(2)/2, so the first term left out is below 1.2e-7.
  Vec p = Broadcast(1.0f / 720);
  p = Fma(p, r, Broadcast(1.0f / 120));
  p = Fma(p, r, Broadcast(1.0f / 24));
  p = Fma(p, r, Broadcast(1.0f / 6));
  p = Fma(p, r, Broadcast(0.5f));
  p = Fma(p, r, Broadcast(1.0f));
  p = Fma(p, r, Broadcast(1.0f));
  return ScaleByPowerOfTwo(p, n);
}

/// 1 / (1 + e^-x). From 30 on it is 1 and below -80 it stays at 2e-35: beyond these, intermediate
/// values would be denormal, each of which costs the processor a hundred cycles.
AICF_INLINE Vec Sigmoid(Vec x) {
  const Vec y = Min(Broadcast(80.0f), Max(Broadcast(-30.0f), -x));
  return Reciprocal(Broadcast(1.0f) + ExpInRange(y));
}

/// e^y - 1 for y <= 0 without cancellation, within 3 ULP; below -25 it is -1. NaN stays NaN.
AICF_INLINE Vec ExpMinusOne(Vec y) {
  const Vec x = Max(Broadcast(-25.0f), y);
  const Vec n = RoundNearest(x * Broadcast(1.44269504f));
  Vec r = Fma(n, Broadcast(-0.693359375f), x);
  r = Fma(n, Broadcast(2.12194440e-4f), r);
  Vec p = Broadcast(1.0f / 5040);
  p = Fma(p, r, Broadcast(1.0f / 720));
  p = Fma(p, r, Broadcast(1.0f / 120));
  p = Fma(p, r, Broadcast(1.0f / 24));
  p = Fma(p, r, Broadcast(1.0f / 6));
  p = Fma(p, r, Broadcast(0.5f));
  const Vec small = Fma(p, r * r, r);  // e^r - 1
  const Vec scale = ScaleByPowerOfTwo(Broadcast(1.0f), n);
  return Fma(small, scale, scale - Broadcast(1.0f));
}

/// tanh(x) = -m / (2 + m) with m = e^-2|x| - 1.
AICF_INLINE Vec Tanh(Vec x) {
  const Vec m = ExpMinusOne(Magnitude(x) * Broadcast(-2.0f));
  return CopySign(-m * Reciprocal(Broadcast(2.0f) + m), x);
}

/// erf(x) = -(e^(-a * Q(a)) - 1) with a = |x| and Q(a) = -log(1 - erf(a)) / a. The
/// polynomial holds up to 4, from where erf is 1 in f32; its error moves no result by 1/10 ULP.
AICF_INLINE Vec Erf(Vec x) {
  const Vec a = Min(Broadcast(4.0f), Magnitude(x));
  Vec q = Broadcast(-0x1.3696bcp-17f);
  q = Fma(q, a, Broadcast(0x1.ed6c60p-14f));
  q = Fma(q, a, Broadcast(-0x1.4bc9f0p-11f));
  q = Fma(q, a, Broadcast(0x1.b50054p-10f));
  q = Fma(q, a, Broadcast(-0x1.50600cp-13f));
  q = Fma(q, a, Broadcast(-0x1.39cdc6p-6f));
  q = Fma(q, a, Broadcast(0x1.a4fa5ep-4f));
  q = Fma(q, a, Broadcast(0x1.45f2fap-1f));
  q = Fma(q, a, Broadcast(0x1.20dd76p+0f));
  return CopySign(ExpMinusOne(-a * q), x);
}

/// Nearest f16 value, as f32.
AICF_INLINE Vec RoundToHalf(Vec x) {
  uint16_t half[kLanes];
  NarrowHalf(half, x);
  return WidenHalf(half);
}

AICF_ISA_END
