// Functions of f32 for expressions whose results all end in 16 bits (f16, bf16): within 2^-17 of
// the value, which 16 bits do not show but for results that lie halfway between two of them.
// Without branches and with few instructions, because the epilogue of a product has few warps to
// hide their latency. compiler/codegen/cuda_source.cc says where they are used (kShortResults).
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

/// 1/(1+e) or e/(1+e) with e = exp(-|x|) <= 1.
AICF_DEVICE float Sigmoid16(float x) {
  const float e = Exp2Approx(fabsf(x) * -kLog2E);
  return (x < 0 ? e : 1.0f) * ReciprocalApprox(1.0f + e);
}

/// Near 0 an odd polynomial, because 1 - 2/(1+e) would lose all digits there.
AICF_DEVICE float Tanh16(float x) {
  const float a = fabsf(x), s = x * x;
  float p = -0.04444442689418793f;
  p = fmaf(p, s, 0.13191881775856018f);
  p = fmaf(p, s, -0.33326467871665955f);
  p = fmaf(p, s, 0.999999463558197f);
  const float large = fmaf(-2.0f, ReciprocalApprox(1.0f + Exp2Approx(a * (2 * kLog2E))), 1.0f);
  return a < 0.5f ? x * p : WithSignOf(large, x);
}

/// Near 0 an odd polynomial, above 1 - 2^q with a polynomial q.
AICF_DEVICE float Erf16(float x) {
  const float a = fabsf(x), s = x * x, c = fminf(a, 4.0f);
  float p = -0.024401195347309113f;
  p = fmaf(p, s, 0.11246076226234436f);
  p = fmaf(p, s, -0.37610775232315063f);
  p = fmaf(p, s, 1.128378987312317f);
  float q = -2.3697886717855e-05f;
  q = fmaf(q, c, 0.0005350377759896219f);
  q = fmaf(q, c, -0.005504975561052561f);
  q = fmaf(q, c, 0.03472535312175751f);
  q = fmaf(q, c, -0.15367501974105835f);
  q = fmaf(q, c, -0.9161313772201538f);
  q = fmaf(q, c, -1.628361463546753f);
  q = fmaf(q, c, 1.8604210708872415e-05f);
  const float large = x != x ? x : WithSignOf(1.0f - Exp2Approx(q), x);
  return a < 0.5f ? x * p : large;
}

}  // namespace aicf
