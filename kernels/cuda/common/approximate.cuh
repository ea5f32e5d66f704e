// Functions of the chip that are faster than exact, for kernels whose operands are rounded to 16
// bits anyway, and conversions of two numbers at a time. One thin function per instruction of
// sm_90a.
#pragma once

#include "common/types.cuh"

namespace aicf {

/// 2^x within 2 ULP; results below 2^-126 become 0.
AICF_DEVICE float Exp2Approximate(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/// 2^x within 7.5e-5 of itself for x in [-126, 127], and less than 2^-125 for smaller x and for
/// -inf: by a polynomial, on the units that add and multiply, where those of Exp2Approximate are
/// busy. Of NaN comes some number.
AICF_DEVICE float Exp2Polynomial(float x) {
  constexpr float kShift = 12582912.0f;  // 1.5 * 2^23: the sum's last bits are x rounded to a whole
  const float whole = fmaxf(x, -126.0f) + kShift;
  const float part = fmaxf(x, -126.0f) - (whole - kShift);
  const float y =
      fmaf(fmaf(fmaf(0.05517166f, part, 0.24261112f), part, 0.69326099f), part, 0.99992807f);
  return __uint_as_float(__float_as_uint(y) + (__float_as_uint(whole) << 23));
}

/// Two numbers rounded to 16 bits in one word, the first in its lower half.
AICF_DEVICE unsigned RoundedPair(bf16, float low, float high) {
  unsigned pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}
AICF_DEVICE unsigned RoundedPair(f16, float low, float high) {
  unsigned pair;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}

}  // namespace aicf
