// Functions of f32 for expressions whose results are all stored in 16 bits (f16, bf16) or 8
// (float8). They are within 2^-15 of the value (0 where that is below 2^-126), which 16 bits hardly
// show: what is stored is within one unit in its last place. They have no branches and few
// instructions, because the epilogue of a product has few warps to hide their latency.
// compiler/codegen/cuda_source.cc decides where they are used (kShortResults).
#pragma once

#include "common/types.cuh"

namespace aicf {

constexpr float kLog2E = 1.44269504088896341f;

/// The magnitude of `value` with the sign of `sign`.
AICF_DEVICE float WithSignOf(float value, float sign) {
  return __uint_as_float((__float_as_uint(value) & 0x7fffffffu) |
                         (__float_as_uint(sign) & 0x80000000u));
}

AICF_DEVICE float Exp16(float x) { return Exp2Approx(x * kLog2E); }

/// 1/(1+e) with e = exp(-x). If e overflows it is infinite and the result is 0, which is within
/// 2^-126 of the value.
AICF_DEVICE float Sigmoid16(float x) { return ReciprocalApprox(1.0f + Exp2Approx(x * -kLog2E)); }

/// 1 - 2/(1+e) with e = exp(2x), or x - x^3/3 near 0, where the first form loses its digits. Both
/// forms are so short that the compiler computes both and chooses between the results instead of
/// branching.
AICF_DEVICE float Tanh16(float x) {
  const float e = Exp2Approx(x * (2 * kLog2E));
  const float large = fmaf(-2.0f, ReciprocalApprox(1.0f + e), 1.0f);
  const float small = fmaf(x * x * (-1.0f / 3), x, x);
  return fabsf(x) < 0.03125f ? small : large;
}

/// 1 - 2^q, where q is a polynomial of the magnitude of x, with the sign of x. Near 0, where this
/// form loses its digits, the first term of the series.
AICF_DEVICE float Erf16(float x) {
  const float a = fabsf(x), c = a > 4.0f ? 4.0f : a;
  float q = 0.00022303854348137975f;
  q = fmaf(q, c, -0.003920982126146555f);
  q = fmaf(q, c, 0.030847765505313873f);
  q = fmaf(q, c, -0.14900951087474823f);
  q = fmaf(q, c, -0.9186369180679321f);
  q = fmaf(q, c, -1.6278780698776245f);
  const float large = WithSignOf(1.0f - Exp2Approx(q * c), x);
  const float small = x * 1.1283791670955126f;
  return a < 0.015625f ? small : large;
}

}  // namespace aicf
