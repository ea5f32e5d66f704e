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
