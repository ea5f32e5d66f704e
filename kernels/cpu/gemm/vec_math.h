/// Functions of a vector that epilogues need in registers.
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

/// 1 / (1 + e^-x) within 1e-7; below -88 it may be 0.
AICF_INLINE Vec Sigmoid(Vec x) {
  const Vec y = Min(Broadcast(88.0f), Max(Broadcast(-104.0f), -x));
  return Reciprocal(Broadcast(1.0f) + ExpInRange(y));
}

/// Nearest f16 value, as f32.
AICF_INLINE Vec RoundToHalf(Vec x) {
  uint16_t half[kLanes];
  NarrowHalf(half, x);
  return WidenHalf(half);
}

AICF_ISA_END
