// The expression operators of kernels/abi/expr_ops.def. They are compiled without contraction and
// without fast math, so every + - * / sqrt rounds once. Functions whose library version strays more
// than 2 ULP in f32 are evaluated in f64 and rounded. Where nothing shows the last digits of an f32
// (kShortResults), the functions of functions16.cuh and of single precision take the place of
// these; they are several times as fast.
#pragma once

#include "common/functions16.cuh"
#include "common/runs.cuh"

namespace aicf {

template <class T>
struct UnsignedOf {
  typedef T U;
};
template <>
struct UnsignedOf<i8> {
  typedef u8 U;
};
template <>
struct UnsignedOf<i16> {
  typedef u16 U;
};
template <>
struct UnsignedOf<i32> {
  typedef u32 U;
};
template <>
struct UnsignedOf<i64> {
  typedef u64 U;
};
/// Unsigned and at least 32 bits wide: wraps without undefined behaviour.
template <class T>
struct WrapOf {
  typedef u32 U;
};
template <>
struct WrapOf<i64> {
  typedef u64 U;
};
template <>
struct WrapOf<u64> {
  typedef u64 U;
};

template <class T>
constexpr bool kIsSigned = !kSame<typename UnsignedOf<T>::U, T>;
template <class T>
constexpr int kBits = static_cast<int>(sizeof(T)) * 8;

template <class T>
AICF_DEVICE typename WrapOf<T>::U Wrap(T v) {
  return static_cast<typename WrapOf<T>::U>(v);
}

AICF_DEVICE float FromBits(u32 bits) { return __uint_as_float(bits); }
AICF_DEVICE double FromBits64(u64 bits) { return __longlong_as_double(static_cast<i64>(bits)); }

// ---- Arithmetic.

template <class T>
AICF_DEVICE T OpAdd(T a, T b) {
  if constexpr (kIsFloat<T>)
    return a + b;
  else
    return static_cast<T>(Wrap(a) + Wrap(b));
}
template <class T>
AICF_DEVICE T OpSub(T a, T b) {
  if constexpr (kIsFloat<T>)
    return a - b;
  else
    return static_cast<T>(Wrap(a) - Wrap(b));
}
template <class T>
AICF_DEVICE T OpMul(T a, T b) {
  if constexpr (kIsFloat<T>)
    return a * b;
  else
    return static_cast<T>(Wrap(a) * Wrap(b));
}
AICF_DEVICE float OpFma(float a, float b, float c) { return fmaf(a, b, c); }
AICF_DEVICE double OpFma(double a, double b, double c) { return fma(a, b, c); }

template <class T>
AICF_DEVICE T OpDiv(T a, T b) {
  if constexpr (kIsFloat<T>) {
    return a / b;
  } else if constexpr (kIsSigned<T>) {
    if (b == 0) return 0;
    if (b == -1) return static_cast<T>(0 - Wrap(a));
    return static_cast<T>(a / b);
  } else {
    return b == 0 ? T(0) : static_cast<T>(a / b);
  }
}
/// Remainder with the dividend's sign.
AICF_DEVICE float OpFmod(float a, float b) { return fmodf(a, b); }
AICF_DEVICE double OpFmod(double a, double b) { return fmod(a, b); }
template <class T>
AICF_DEVICE T OpFmod(T a, T b) {
  if (b == 0) return 0;
  if constexpr (kIsSigned<T>) {
    if (b == -1) return 0;
  }
  return static_cast<T>(a % b);
}
/// Remainder with the divisor's sign.
template <class T>
AICF_DEVICE T OpMod(T a, T b) {
  const T r = OpFmod(a, b);
  if constexpr (kIsFloat<T> || kIsSigned<T>) {
    return r != 0 && (r < 0) != (b < 0) ? OpAdd(r, b) : r;
  } else {
    return r;
  }
}
AICF_DEVICE float OpPow(float a, float b) {
  if constexpr (kShortResults) return powf(a, b);
  return static_cast<float>(pow(static_cast<double>(a), static_cast<double>(b)));
}
AICF_DEVICE double OpPow(double a, double b) { return pow(a, b); }
template <class T>
AICF_DEVICE T OpPow(T base, T exponent) {
  if constexpr (kIsSigned<T>) {
    if (exponent < 0) {
      if (base == 1) return 1;
      if (base == -1) return exponent % 2 == 0 ? 1 : -1;
      return 0;
    }
  }
  u64 result = 1;
  u64 square = static_cast<u64>(base);
  for (u64 e = static_cast<u64>(exponent); e != 0; e >>= 1) {
    if (e & 1) result *= square;
    square *= square;
  }
  return static_cast<T>(result);
}
/// a / b for a constant b whose reciprocal is known (CorrectedQuotient). REQUIRES: the caller
/// rounds the quotient to a whole number of at most 18 bits and saturates. The number is then the
/// one that a / b itself gives: quotients that are too small or too large for the correction to be
/// exact round to 0 or saturate, whatever their last digits.
AICF_DEVICE float QuotientToRound(float a, float b, float reciprocal) {
  constexpr float kLarge = 0x1p60f;
  const float near = a * reciprocal;
  return fabsf(near) < kLarge ? CorrectedQuotient(a, b, reciprocal) : near;
}

template <class T>
AICF_DEVICE T OpMin(T a, T b) {
  if constexpr (kSame<T, float>) return MinOrNan(a, b);
  if constexpr (kIsFloat<T>) {
    if (a != a) return a;
  }
  return a < b ? a : b;
}
template <class T>
AICF_DEVICE T OpMax(T a, T b) {
  if constexpr (kSame<T, float>) return MaxOrNan(a, b);
  if constexpr (kIsFloat<T>) {
    if (a != a) return a;
  }
  return a > b ? a : b;
}

/// min(max(v, -448), 448), the range of f8e4m3fn. The compiler is told of it, so that a store in
/// this type does not look for larger values again.
AICF_DEVICE float ClampToE4M3(float v) {
  const float held = OpMin(OpMax(v, -448.0f), 448.0f);
#if defined(__CUDACC__)
  __builtin_assume(!(fabsf(held) > 464.0f));  // as Float8Conversion asks
#endif
  return held;
}

template <class T>
AICF_DEVICE T OpNeg(T a) {
  if constexpr (kIsFloat<T>)
    return -a;
  else
    return static_cast<T>(0 - Wrap(a));
}
AICF_DEVICE float OpAbs(float a) { return fabsf(a); }
AICF_DEVICE double OpAbs(double a) { return fabs(a); }
template <class T>
AICF_DEVICE T OpAbs(T a) {
  if constexpr (kIsSigned<T>)
    return a < 0 ? OpNeg(a) : a;
  else
    return a;
}
template <class T>
AICF_DEVICE T OpSign(T a) {
  if constexpr (kIsFloat<T>)
    return a > 0 ? T(1) : a < 0 ? T(-1) : a;
  else if constexpr (kIsSigned<T>)
    return static_cast<T>((a > 0) - (a < 0));
  else
    return static_cast<T>(a != 0);
}

// ---- Comparison and logic.

template <class T>
AICF_DEVICE bool OpEq(T a, T b) {
  return a == b;
}
template <class T>
AICF_DEVICE bool OpLt(T a, T b) {
  return a < b;
}
template <class T>
AICF_DEVICE bool OpLe(T a, T b) {
  return a <= b;
}
template <class T>
AICF_DEVICE T OpAnd(T a, T b) {
  return static_cast<T>(a & b);
}
template <class T>
AICF_DEVICE T OpOr(T a, T b) {
  return static_cast<T>(a | b);
}
template <class T>
AICF_DEVICE T OpXor(T a, T b) {
  return static_cast<T>(a ^ b);
}
template <class T>
AICF_DEVICE T OpNot(T a) {
  return static_cast<T>(~a);
}
AICF_DEVICE bool OpNot(bool a) { return !a; }
template <class T>
AICF_DEVICE T OpShl(T a, T b) {
  const u64 by = static_cast<u64>(b);
  return by >= kBits<T> ? T(0) : static_cast<T>(static_cast<u64>(a) << by);
}
template <class T>
AICF_DEVICE T OpShr(T a, T b) {
  const u64 by = static_cast<u64>(b);
  if constexpr (kIsSigned<T>)
    return static_cast<T>(a >> (by < kBits<T> ? by : kBits<T> - 1));
  else
    return by >= kBits<T> ? T(0) : static_cast<T>(a >> by);
}
template <class T>
AICF_DEVICE bool OpIsNan(T a) {
  return a != a;
}
AICF_DEVICE bool OpIsInf(float a) { return fabsf(a) == FromBits(0x7f800000u); }
AICF_DEVICE bool OpIsInf(double a) { return fabs(a) == FromBits64(0x7ff0000000000000ull); }

// ---- Functions. One row per function: f32 through the f32 library, or through f64.

#define AICF_FUNCTION(Name, single, twice)           \
  AICF_DEVICE float Name(float a) { return single; } \
  AICF_DEVICE double Name(double a) { return twice; }
#define AICF_FUNCTION_WIDE(Name, function, single)               \
  AICF_DEVICE float Name(float a) {                              \
    if constexpr (kShortResults) return single(a);               \
    return static_cast<float>(function(static_cast<double>(a))); \
  }                                                              \
  AICF_DEVICE double Name(double a) { return function(a); }

/// The parts of e^x = (1 + p) * scale * rest, where p = e^r - 1 with r in [-ln2/2, ln2/2], and
/// scale * rest is a power of two. x is reduced to r in two fused steps.
struct ExpParts {
  float p, scale, rest;
};
AICF_DEVICE ExpParts SplitExp(float x) {
  // Beyond these ends the result is 0 or infinity; inside, 2^n is a product of two normal floats.
  const float c = fminf(fmaxf(x, -105.0f), 90.0f);
  const float n = rintf(c * FromBits(0x3fb8aa3bu));
  float r = fmaf(n, FromBits(0xbf317200u), c);
  r = fmaf(n, FromBits(0xb5bfbe8eu), r);
  float p = FromBits(0x39506967u);
  p = fmaf(p, r, FromBits(0x3ab743ceu));
  p = fmaf(p, r, FromBits(0x3c088908u));
  p = fmaf(p, r, FromBits(0x3d2aa9c1u));
  p = fmaf(p, r, FromBits(0x3e2aaaaau));
  p = fmaf(p, r, 0.5f);
  const int half = static_cast<int>(n) >> 1;
  const int other = static_cast<int>(n) - half;
  return {fmaf(p, r * r, r), __int_as_float((half + 127) << 23),
          __int_as_float((other + 127) << 23)};
}

/// Within 1.1 ULP.
AICF_DEVICE float ExpF32(float x) {
  const ExpParts e = SplitExp(x);
  const float y = (e.p + 1.0f) * e.scale * e.rest;
  return x != x ? x : y;
}

/// 1/(1+e) for x from 0 on, otherwise e/(1+e), with e = exp(-|x|) <= 1. Both e and 1+e are carried
/// along with what their rounding lost.
AICF_DEVICE float SigmoidOf(float x) {
  const ExpParts parts = SplitExp(-fabsf(x));
  const float one = 1.0f + parts.p;
  const float e = one * parts.scale * parts.rest;
  const float lost = (parts.p - (one - 1.0f)) * parts.scale * parts.rest;
  const float d = 1.0f + e;
  const float d_lost = (e - (d - 1.0f)) + lost;
  const float top = x >= 0 ? 1.0f : e;
  const float q = top / d;
  const float rest = fmaf(-q, d, top) + (x >= 0 ? 0.0f : lost) - q * d_lost;
  return x != x ? x : q + rest / d;
}
AICF_DEVICE double SigmoidOf(double x) {
  const double e = exp(-fabs(x));
  return (x >= 0 ? 1.0 : e) / (1.0 + e);
}
AICF_DEVICE double SoftplusOf(double x) { return x != x ? x : fmax(x, 0.0) + log1p(exp(-fabs(x))); }

AICF_DEVICE float SoftplusOf(float x) {
  if constexpr (kShortResults) return x != x ? x : fmaxf(x, 0.0f) + log1pf(Exp16(-fabsf(x)));
  return static_cast<float>(SoftplusOf(static_cast<double>(x)));
}

AICF_FUNCTION(OpExp, kShortResults ? Exp16(a) : ExpF32(a), exp(a))
AICF_FUNCTION(OpLog, logf(a), log(a))
AICF_FUNCTION(OpSqrt, sqrtf(a), sqrt(a))
AICF_FUNCTION(OpRsqrt, 1.0f / sqrtf(a), 1.0 / sqrt(a))
AICF_FUNCTION(OpRecip, 1.0f / a, 1.0 / a)
AICF_FUNCTION(OpSin, sinf(a), sin(a))
AICF_FUNCTION(OpCos, cosf(a), cos(a))
AICF_FUNCTION_WIDE(OpTan, tan, tanf)
AICF_FUNCTION_WIDE(OpAsin, asin, asinf)
AICF_FUNCTION_WIDE(OpAcos, acos, acosf)
AICF_FUNCTION_WIDE(OpAtan, atan, atanf)
AICF_FUNCTION_WIDE(OpSinh, sinh, sinhf)
AICF_FUNCTION_WIDE(OpCosh, cosh, coshf)
AICF_FUNCTION_WIDE(OpAsinh, asinh, asinhf)
AICF_FUNCTION_WIDE(OpAcosh, acosh, acoshf)
AICF_FUNCTION_WIDE(OpAtanh, atanh, atanhf)
AICF_FUNCTION(OpTanh, kShortResults ? Tanh16(a) : tanhf(a), tanh(a))
AICF_FUNCTION(OpErf, kShortResults ? Erf16(a) : erff(a), erf(a))
AICF_FUNCTION(OpSigmoid, kShortResults ? Sigmoid16(a) : SigmoidOf(a), SigmoidOf(a))
AICF_FUNCTION(OpSoftplus, SoftplusOf(a), SoftplusOf(a))
AICF_FUNCTION(OpFloor, floorf(a), floor(a))
AICF_FUNCTION(OpCeil, ceilf(a), ceil(a))
AICF_FUNCTION(OpRound, rintf(a), rint(a))
AICF_FUNCTION(OpTrunc, truncf(a), trunc(a))
#undef AICF_FUNCTION
#undef AICF_FUNCTION_WIDE

AICF_DEVICE float OpRoundF16(float a) { return F16ToF32(F32ToF16(a)); }
AICF_DEVICE float OpRoundBF16(float a) {
  return __uint_as_float(static_cast<u32>(F32ToBF16(a)) << 16);
}

// ---- Cast: ONNX semantics; floats saturate into integers and NaN gives 0.

template <class To>
struct LimitsOf {
  static constexpr To kLowest = kIsSigned<To> ? static_cast<To>(u64(1) << (kBits<To> - 1)) : To(0);
  static constexpr To kHighest = static_cast<To>(~(kIsSigned<To> ? u64(1) << (kBits<To> - 1) : 0));
};

template <class To, class From>
AICF_DEVICE To SaturatedInteger(From v) {
  if constexpr (kSame<From, float> && sizeof(To) <= 4) return TowardsZero(v, To());
  if (v != v) return 0;
  const double whole = trunc(static_cast<double>(v));
  // `past` is the first whole number beyond the highest one: 2^bits or 2^(bits-1). It and the
  // lowest one are exact in f64; the highest one may not be.
  const double past = kIsSigned<To> ? -static_cast<double>(LimitsOf<To>::kLowest)
                                    : 2.0 * static_cast<double>(u64(1) << (kBits<To> - 1));
  if (whole >= past) return LimitsOf<To>::kHighest;
  if (whole <= static_cast<double>(LimitsOf<To>::kLowest)) return LimitsOf<To>::kLowest;
  return static_cast<To>(whole);
}

template <class To, class From>
AICF_DEVICE To OpCast(From v) {
  if constexpr (kSame<To, From>)
    return v;
  else if constexpr (kSame<To, bool>)
    return v != From(0);
  else if constexpr (kIsFloat<From> && !kIsFloat<To>)
    return SaturatedInteger<To>(v);
  else
    return static_cast<To>(v);
}

}  // namespace aicf
