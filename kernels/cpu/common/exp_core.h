/// The exponential near zero. Every f32 function that contains an exponential is built on it, both
/// for loops over elements (loop_functions.h) and for registers (tile_functions.h). For *.isa.cc
/// files only.
#pragma once

#include "kernels/cpu/isa.h"

AICF_ISA_BEGIN

inline constexpr float kLog2E = 0x1.715476p+0f;

/// x - n ln(2). ln(2) is taken in two parts, such that n times the first one is exact for |n| <
/// 2^9. Ops gives the type F of numbers and MulAdd(a, b, c), which may round once or twice.
template <class Ops>
[[gnu::always_inline]] inline typename Ops::F WithoutPowerOfTwo(typename Ops::F x,
                                                                typename Ops::F n) {
  const typename Ops::F r = Ops::MulAdd(n, Ops::Number(-0x1.62e4p-1f), x);
  return Ops::MulAdd(n, Ops::Number(-0x1.7f7d1cp-20f), r);
}

/// e^r - 1 for |r| <= ln(2) / 2: r + r^2 P(r), where P is off by less than 1/20 ULP of e^r.
template <class Ops>
[[gnu::always_inline]] inline typename Ops::F ExpMinusOneNearZero(typename Ops::F r) {
  typename Ops::F p = Ops::Number(0x1.a15318p-13f);
  p = Ops::MulAdd(p, r, Ops::Number(0x1.6d44b6p-10f));
  p = Ops::MulAdd(p, r, Ops::Number(0x1.1110c6p-7f));
  p = Ops::MulAdd(p, r, Ops::Number(0x1.5554e8p-5f));
  p = Ops::MulAdd(p, r, Ops::Number(0x1.555556p-3f));
  p = Ops::MulAdd(p, r, Ops::Number(0.5f));
  return Ops::MulAdd(p, r * r, r);
}

AICF_ISA_END
