// Two numbers rounded to 16 bits by one instruction of sm_90a.
#pragma once

#include "common/types.cuh"

namespace aicf {

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
