/// f32 functions of a vector in a register: for the epilogues of products and for recurrent cells.
/// Their accuracy is the kTile rows of vector_functions.def, which a test enforces. For *.isa.cc
/// files only; those for loops over elements are in loop_functions.h.
#pragma once

#include "kernels/cpu/common/exp_core.h"
#include "kernels/cpu/common/simd.h"

AICF_ISA_BEGIN

struct VecOps {
  using F = Vec;
  AICF_INLINE static Vec Number(float x) { return Broadcast(x); }
  AICF_INLINE static Vec MulAdd(Vec a, Vec b, Vec c) { return Fma(a, b, c); }
};

/// e^x for -104 <= x <= 88; NaN stays NaN.
AICF_INLINE Vec ExpInRange(Vec x) {
  const Vec n = RoundNearest(x * Broadcast(kLog2E));
  const Vec minus_one = ExpMinusOneNearZero<VecOps>(WithoutPowerOfTwo<VecOps>(x, n));
  return ScaleByPowerOfTwo(minus_one + Broadcast(1.0f), n);
}

/// 1 / (1 + e^-x). From 30 on it is 1 and below -80 it stays at 2e-35: beyond these, intermediate
/// values would be denormal, each of which costs the processor a hundred cycles.
AICF_INLINE Vec Sigmoid(Vec x) {
  const Vec y = Min(Broadcast(80.0f), Max(Broadcast(-30.0f), -x));
  return Reciprocal(Broadcast(1.0f) + ExpInRange(y));
}

/// e^y - 1 for y <= 0 without cancellation; below -25 it is -1. NaN stays NaN.
AICF_INLINE Vec ExpMinusOne(Vec y) {
  const Vec x = Max(Broadcast(-25.0f), y);
  const Vec n = RoundNearest(x * Broadcast(kLog2E));
  const Vec small = ExpMinusOneNearZero<VecOps>(WithoutPowerOfTwo<VecOps>(x, n));
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
