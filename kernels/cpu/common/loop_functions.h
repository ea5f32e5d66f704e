/// f32 functions written so that the compiler vectorises loops over them: no branches, no calls.
/// Their accuracy is the kBlock and kSoftmax rows of vector_functions.def, which tests enforce. For
/// *.isa.cc files only; those for values that stay in registers are in tile_functions.h.
///
/// exp and sigmoid, which models evaluate most, work in f32. The others work in double, where a
/// plain formula is accurate enough once rounded to f32.
#pragma once

#include <cstdint>

#include "kernels/cpu/common/exp_core.h"
#include "kernels/cpu/isa.h"

AICF_ISA_BEGIN

static inline uint32_t BitsOf(float f) { return __builtin_bit_cast(uint32_t, f); }
static inline float FloatOf(uint32_t bits) { return __builtin_bit_cast(float, bits); }
static inline uint64_t BitsOf(double f) { return __builtin_bit_cast(uint64_t, f); }
static inline double DoubleOf(uint64_t bits) { return __builtin_bit_cast(double, bits); }

/// a * b + c, fused where the hardware has it. The accuracy below holds either way.
static inline float MulAdd(float a, float b, float c) {
#if defined(AICF_ISA_baseline)
  return a * b + c;
#else
  return __builtin_fmaf(a, b, c);
#endif
}
static inline double MulAdd(double a, double b, double c) {
#if defined(AICF_ISA_baseline)
  return a * b + c;
#else
  return __builtin_fma(a, b, c);
#endif
}

/// Adding 1.5 * 2^23 to an f32 (1.5 * 2^52 to an f64) rounds it to an integer, which then is in the
/// low bits of the sum.
constexpr float kRounderF32 = 0x1.8p23f;
constexpr double kRounderF64 = 0x1.8p52;

struct FloatOps {
  using F = float;
  static float Number(float x) { return x; }
  static float MulAdd(float a, float b, float c) { return aicf::cpu::AICF_ISA::MulAdd(a, b, c); }
};

/// x = n * ln(2) + r, where n is the integer nearest to x / ln(2) and |r| <= ln(2) / 2. n is in the
/// low bits of `shifted`; `minus_one` is e^r - 1.
struct ReducedExp {
  float shifted;
  float minus_one;
};

static inline ReducedExp ReduceExp(float x) {
  ReducedExp e;
  e.shifted = MulAdd(x, kLog2E, kRounderF32);
  const float n = e.shifted - kRounderF32;
  e.minus_one = ExpMinusOneNearZero<FloatOps>(WithoutPowerOfTwo<FloatOps>(x, n));
  return e;
}

/// e^x for x <= 0 where results below 2^-126 may be 0, as in a softmax. NaN stays NaN.
static inline float ExpToZero(float x) {
  const ReducedExp e = ReduceExp(x < -88.0f ? -88.0f : x);
  // The shift moves n into the place of the exponent and drops all other bits.
  const float scale = FloatOf((BitsOf(e.shifted) << 23) + 0x3f800000u);
  const float y = (e.minus_one + 1.0f) * scale;
  return x < -87.0f ? 0.0f : y;
}

/// e^x = (high + low) * 2^first * 2^second with high + low = e^r.
struct ExpParts {
  float high, low;
  float first, second;  ///< the scale in two halves, so that a denormal result rounds once
};

static inline ExpParts SplitExp(float x) {
  // Beyond these the result is 0 or infinity. Written so that NaN passes.
  x = x > 89.0f ? 89.0f : x;
  x = x < -104.0f ? -104.0f : x;
  const ReducedExp reduced = ReduceExp(x);
  const int32_t exponent =
      static_cast<int32_t>(BitsOf(reduced.shifted)) - static_cast<int32_t>(0x4b400000);
  const int32_t half = exponent >> 1;
  ExpParts e;
  e.high = reduced.minus_one + 1.0f;
  e.low = reduced.minus_one - (e.high - 1.0f);
  e.first = FloatOf(static_cast<uint32_t>(half + 127) << 23);
  e.second = FloatOf(static_cast<uint32_t>(exponent - half + 127) << 23);
  return e;
}

static inline float Exp(float x) {
  const ExpParts e = SplitExp(x);
  return e.high * e.first * e.second;
}

/// 1 / (1 + e^-x), computed from e = e^-|x| <= 1, which cannot overflow. The quotient is corrected
/// for the rounding error of the sum and, where e is also the numerator, for that of e.
static inline float Sigmoid(float x) {
  const ExpParts parts = SplitExp(-__builtin_fabsf(x));
  const float e = parts.high * parts.first * parts.second;
  const float sum = 1.0f + e;
  const float sum_lost = e - (sum - 1.0f);
  const float top = x < 0 ? e : 1.0f;
  const float q = top / sum;
  // The rounding error of e relative to e. 1 / high is approximated by 2 - high, which is accurate
  // enough for a correction.
  const float e_lost = x < 0 ? parts.low * (2.0f - parts.high) : 0.0f;
  return MulAdd(q, e_lost * (1.0f - q) - sum_lost, q);
}

/// e^x in double to 2^-40, for |x| up to 700 (beyond: 0 or infinity, as far as f32 can tell).
static inline double ExpDouble(double x) {
  x = x > 700.0 ? 700.0 : x;
  x = x < -700.0 ? -700.0 : x;
  const double shifted = MulAdd(x, 0x1.71547652b82fep+0, kRounderF64);
  const double n = shifted - kRounderF64;
  double r = MulAdd(n, -0x1.62e42fefa2p-1, x);
  r = MulAdd(n, -0x1.9ef35793c7673p-41, r);
  double p = 1.0 / 3628800;
  p = MulAdd(p, r, 1.0 / 362880);
  p = MulAdd(p, r, 1.0 / 40320);
  p = MulAdd(p, r, 1.0 / 5040);
  p = MulAdd(p, r, 1.0 / 720);
  p = MulAdd(p, r, 1.0 / 120);
  p = MulAdd(p, r, 1.0 / 24);
  p = MulAdd(p, r, 1.0 / 6);
  p = MulAdd(p, r, 0.5);
  p = MulAdd(p, r, 1.0);
  p = MulAdd(p, r, 1.0);
  const uint64_t exponent = BitsOf(shifted) - BitsOf(kRounderF64);
  return p * DoubleOf((exponent + 1023) << 52);
}

/// 2 * atanh(s) = 2 * (s + s^3/3 + ...) for |s| <= 1/3.
static inline double TwiceAtanh(double s) {
  const double z = s * s;
  double p = 1.0 / 21;
  p = MulAdd(p, z, 1.0 / 19);
  p = MulAdd(p, z, 1.0 / 17);
  p = MulAdd(p, z, 1.0 / 15);
  p = MulAdd(p, z, 1.0 / 13);
  p = MulAdd(p, z, 1.0 / 11);
  p = MulAdd(p, z, 1.0 / 9);
  p = MulAdd(p, z, 1.0 / 7);
  p = MulAdd(p, z, 1.0 / 5);
  p = MulAdd(p, z, 1.0 / 3);
  p = MulAdd(p, z, 1.0);
  return 2.0 * s * p;
}

/// ln(x) for normal, positive, finite x: every positive f32 is a normal double.
static inline double LogDouble(double x) {
  // Subtracting the bits of sqrt(1/2) puts the mantissa into [sqrt(1/2), sqrt(2)).
  const uint64_t low = 0x3fe6a09e667f3bcdu;
  const uint64_t bits = BitsOf(x) - low;
  const double m = DoubleOf((bits & 0x000fffffffffffffu) + low);
  // The exponent, biased to be positive, becomes a double through the low bits of 2^52.
  const uint64_t biased = ((bits >> 52) + 2048) & 4095;
  const double n = DoubleOf(biased | 0x4330000000000000u) - (0x1p52 + 2048);
  return MulAdd(n, 0x1.62e42fefa39efp-1, TwiceAtanh((m - 1.0) / (m + 1.0)));
}

static inline float Log(float x) {
  const float y = static_cast<float>(LogDouble(x));
  const float positive = x > 0x1.fffffep127f ? x : y;  // infinity
  const float ordered = x > 0 ? positive : x == 0 ? -__builtin_inff() : __builtin_nanf("");
  return x != x ? x : ordered;
}

/// tanh(x) = (1 - e) / (1 + e) with e = e^-2|x|; near 0 the difference cancels and x - x^3/3
/// serves.
static inline float Tanh(float x) {
  const double d = x;
  const double a = __builtin_fabs(d);
  const double e = ExpDouble(-2.0 * a);
  const double large = (1.0 - e) / (1.0 + e);
  const double small = a - a * a * a * (1.0 / 3);
  const double y = a < 0x1p-12 ? small : large;
  return static_cast<float>(d < 0 ? -y : x == 0 ? d : y);
}

/// max(x, 0) + log(1 + e) with e = e^-|x|; log(1 + e) = 2 atanh(e / (2 + e)).
static inline float Softplus(float x) {
  const double d = x;
  const double e = ExpDouble(-__builtin_fabs(d));
  const double top = d > 0 ? d : 0.0;
  const double y = top + TwiceAtanh(e / (2.0 + e));
  return x != x ? x : static_cast<float>(y);
}

/// erf(x) = x * P(x^2) up to 1; from there 1 - e^(-x^2) * Q(1/x), which is 1 in f32 from 4 on.
static inline float Erf(float x) {
  const double d = x;
  const double a = __builtin_fabs(d);
  const double z = a * a;
  double p = 1.0595270194040983e-06;
  p = MulAdd(p, z, -1.3911698574196754e-05);
  p = MulAdd(p, z, 0.0001195694634863697);
  p = MulAdd(p, z, -0.0008542670521990637);
  p = MulAdd(p, z, 0.00522378500462957);
  p = MulAdd(p, z, -0.0268661336247506);
  p = MulAdd(p, z, 0.11283791313487303);
  p = MulAdd(p, z, -0.376126388898683);
  p = MulAdd(p, z, 1.128379167094695);
  const double small = d * p;
  const double b = a > 4.0 ? 4.0 : a;
  const double t = 1.0 / b;
  double q = 0.016227276394693128;
  q = MulAdd(q, t, -0.09964969337759064);
  q = MulAdd(q, t, 0.24668531812474598);
  q = MulAdd(q, t, -0.2770918949216804);
  q = MulAdd(q, t, 0.01854410153311484);
  q = MulAdd(q, t, 0.35033573960186093);
  q = MulAdd(q, t, -0.41800509132868785);
  q = MulAdd(q, t, 0.02971218265261359);
  q = MulAdd(q, t, 0.5606459190295086);
  q = MulAdd(q, t, 0.0001797251068168526);
  const double tail = 1.0 - ExpDouble(-b * b) * q;
  const double large = d < 0 ? -tail : tail;
  return static_cast<float>(a > 1.0 ? large : small);  // NaN compares false and takes d * p
}

/// sin(x + quarter * pi/2) for |x| <= kTrigLimit: x = n * pi/2 + r with pi/2 in three parts, of
/// which n times the first two is exact.
constexpr float kTrigLimit = 0x1p23f;

static inline float SinQuarters(float x, uint64_t quarter) {
  const double d = x;
  const double shifted = d * 0x1.45f306dc9c883p-1 + kRounderF64;
  const double n = shifted - kRounderF64;
  double r = d - n * 0x1.921fb54p+0;
  r = r - n * 0x1.10b461p-30;
  r = r - n * 0x1.a62633145c06ep-58;
  const double z = r * r;
  double s = -1.0 / 39916800;
  s = MulAdd(s, z, 1.0 / 362880);
  s = MulAdd(s, z, -1.0 / 5040);
  s = MulAdd(s, z, 1.0 / 120);
  s = MulAdd(s, z, -1.0 / 6);
  s = MulAdd(s, z * r, r);
  double c = 1.0 / 479001600;
  c = MulAdd(c, z, -1.0 / 3628800);
  c = MulAdd(c, z, 1.0 / 40320);
  c = MulAdd(c, z, -1.0 / 720);
  c = MulAdd(c, z, 1.0 / 24);
  c = MulAdd(c, z, -0.5);
  c = MulAdd(c, z, 1.0);
  const uint64_t q = BitsOf(shifted) + quarter;
  const double y = (q & 1) != 0 ? c : s;
  return static_cast<float>(DoubleOf(BitsOf(y) ^ ((q & 2) << 62)));
}

static inline float Sin(float x) { return x == 0 ? x : SinQuarters(x, 0); }
static inline float Cos(float x) { return SinQuarters(x, 1); }

/// Whether the trigonometric functions above are accurate at x; elsewhere the caller uses libm.
static inline bool TrigHolds(float x) { return __builtin_fabsf(x) <= kTrigLimit; }

/// |x|^y with the sign that integers y give to negative x, else NaN. See PowHolds.
static inline float Pow(float x, float y) {
  const double a = __builtin_fabs(static_cast<double>(x));
  const double d = y;
  const double magnitude = ExpDouble(d * LogDouble(a));
  // y is an integer, and an odd one, by rounding it and its half; from 2^52 on both are exact.
  const double b = __builtin_fabs(d);
  const double whole = (b + 0x1p52) - 0x1p52;
  const double halved = (b * 0.5 + 0x1p52) - 0x1p52;
  const double negative = halved != b * 0.5 ? -magnitude : magnitude;
  const double signless = whole != b ? static_cast<double>(__builtin_nanf("")) : negative;
  return static_cast<float>(x < 0 ? signless : magnitude);
}

/// Whether Pow is accurate for these operands. It is false for zero, infinite and NaN ones, for
/// which the caller uses libm.
static inline bool PowHolds(float x, float y) {
  const float a = __builtin_fabsf(x);
  return (a > 0) & (a < __builtin_inff()) & (__builtin_fabsf(y) < __builtin_inff());
}

AICF_ISA_END
