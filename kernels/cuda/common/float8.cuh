// The storage types of 8 bits and below that are converted, never computed with: float8, float4,
// and integers of 4 and 2 bits in a byte each. Conversions give the bits that those of
// base/float8.h give. They are made of integer arithmetic, or of the chip's own instructions for
// the formats that it has.
#pragma once

#include "common/ptx.cuh"

namespace aicf {

/// A format with `Exponent` and `Mantissa` bits below the sign bit, whose mask is kSign (0: no
/// sign). kMax is the code of the largest finite value, kOverflow, without sign, that of values
/// beyond it. kNan is what NaN is stored as; 0 means that no code stands for NaN. kZeros says
/// whether there is a -0.
template <int Exponent, int Mantissa, int Bias, int Max, int Overflow, int Nan, int Sign,
          bool Zeros>
struct Float8 {
  static constexpr int kMantissa = Mantissa, kBias = Bias, kMax = Max, kOverflow = Overflow,
                       kNan = Nan, kSign = Sign;
  static constexpr unsigned kCodes =
      (1u << (Exponent + Mantissa)) - 1 + static_cast<unsigned>(Sign);
  static constexpr bool kZeros = Zeros;
  unsigned char bits;
};
typedef Float8<4, 3, 7, 0x7e, 0x7f, 0x7f, 0x80, true> f8e4m3fn;
typedef Float8<4, 3, 8, 0x7f, 0x80, 0x80, 0x80, false> f8e4m3fnuz;
typedef Float8<5, 2, 15, 0x7b, 0x7c, 0x7f, 0x80, true> f8e5m2;
typedef Float8<5, 2, 16, 0x7f, 0x80, 0x80, 0x80, false> f8e5m2fnuz;
typedef Float8<8, 0, 127, 0xfe, 0xff, 0xff, 0, false> f8e8m0;
typedef Float8<2, 1, 1, 0x7, 0x7, 0x0, 0x8, true> f4e2m1;

/// 2^e for -149 <= e <= 127.
AICF_DEVICE float PowerOfTwo(int e) {
  return __uint_as_float(e < -126 ? 1u << (e + 149) : static_cast<unsigned>(e + 127) << 23);
}

template <class F>
AICF_DEVICE float Float8ToF32ByBits(unsigned code) {
  code &= F::kCodes;
  const unsigned magnitude = F::kSign == 0 ? code : code & static_cast<unsigned>(F::kSign - 1);
  const bool negative = (code & static_cast<unsigned>(F::kSign)) != 0;
  // A format without a NaN has its largest value where others have theirs.
  if constexpr (F::kNan != 0) {
    if (F::kNan == F::kSign && F::kSign != 0 ? code == static_cast<unsigned>(F::kNan)
                                             : magnitude > static_cast<unsigned>(F::kMax)) {
      const bool infinite =
          F::kOverflow != F::kNan && magnitude == static_cast<unsigned>(F::kOverflow);
      return __uint_as_float(infinite ? (negative ? 0xff800000u : 0x7f800000u) : 0x7fc00000u);
    }
  }
  float value;
  if constexpr (F::kMantissa == 0) {
    value = PowerOfTwo(static_cast<int>(magnitude) - F::kBias);
  } else {
    const int exponent = static_cast<int>(magnitude >> F::kMantissa);
    const int fraction = static_cast<int>(magnitude & ((1u << F::kMantissa) - 1));
    const int scaled = exponent == 0 ? fraction : fraction + (1 << F::kMantissa);
    value = static_cast<float>(scaled) *
            PowerOfTwo((exponent == 0 ? 1 : exponent) - F::kBias - F::kMantissa);
  }
  return negative ? -value : value;
}

/// `significand` / 2^shift, rounded to the nearest whole number with ties to even. REQUIRES:
/// significand is below 2^24 and shift at least 1.
AICF_DEVICE unsigned RoundedUnits(unsigned significand, int shift) {
  if (shift > 25) return 0;
  const unsigned whole = significand >> shift, half = 1u << (shift - 1);
  const unsigned rest = significand & ((1u << shift) - 1);
  return whole + (rest > half || (rest == half && (whole & 1) != 0) ? 1u : 0u);
}

template <class F>
AICF_DEVICE unsigned char F32ToFloat8ByBits(float value) {
  const unsigned bits = __float_as_uint(value), magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<unsigned char>(F::kNan);
  const unsigned sign = bits >> 31 != 0 ? static_cast<unsigned>(F::kSign) : 0;
  const unsigned overflow = F::kOverflow == F::kSign ? static_cast<unsigned>(F::kOverflow)
                                                     : static_cast<unsigned>(F::kOverflow) | sign;
  if (magnitude == 0x7f800000u) return static_cast<unsigned char>(overflow);
  if (magnitude == 0) return static_cast<unsigned char>(F::kZeros ? sign : 0);
  constexpr int kLeast = F::kMantissa == 0 ? -F::kBias : 1 - F::kBias;
  // The value is significand * 2^(e - 23), its leading bit at 23.
  int e = static_cast<int>(magnitude >> 23) - 127;
  unsigned significand = (magnitude & 0x7fffffu) | 0x800000u;
  if (e == -127) {
    significand = magnitude;
    for (e = -126; significand < 0x800000u; --e) significand <<= 1;
  }
  const int at = e < kLeast ? kLeast : e;
  unsigned code = RoundedUnits(significand, 23 - F::kMantissa + at - e);
  if constexpr (F::kMantissa == 0) {
    code = code == 0 ? 0 : static_cast<unsigned>(at + F::kBias) + (code >= 2 ? 1u : 0u);
  } else if (code >= 1u << F::kMantissa) {
    // `code` includes the leading bit, which makes the exponent one larger than what is added here.
    // If rounding carried into the next exponent, that is right as well.
    code += static_cast<unsigned>(at + F::kBias - 1) << F::kMantissa;
  }
  if (code > static_cast<unsigned>(F::kMax)) return static_cast<unsigned char>(overflow);
  if (code == 0 && !F::kZeros) return 0;
  return static_cast<unsigned char>(code | sign);
}

template <class F>
struct Float8Conversion {
  static AICF_DEVICE unsigned char From(float value) { return F32ToFloat8ByBits<F>(value); }
  static AICF_DEVICE float ToF32(unsigned code) { return Float8ToF32ByBits<F>(code); }
};

#if defined(AICF_FLOAT8_INSTRUCTIONS)
/// The code, with the value's sign, of a value that lies beyond the largest finite one by more than
/// rounding. The instructions would give the largest value there, but the formats have a code for
/// it.
AICF_DEVICE unsigned char Overflowed(float value, int code) {
  return static_cast<unsigned char>(code | (__float_as_uint(value) >> 24 & 0x80u));
}
template <>
struct Float8Conversion<f8e4m3fn> {
  static AICF_DEVICE unsigned char From(float value) {
    return fabsf(value) > 464.0f ? Overflowed(value, f8e4m3fn::kOverflow) : F32ToE4M3(value);
  }
  static AICF_DEVICE float ToF32(unsigned code) {
    return E4M3ToF32(static_cast<unsigned char>(code));
  }
};
template <>
struct Float8Conversion<f8e5m2> {
  static AICF_DEVICE unsigned char From(float value) {
    return fabsf(value) >= 61440.0f ? Overflowed(value, f8e5m2::kOverflow) : F32ToE5M2(value);
  }
  static AICF_DEVICE float ToF32(unsigned code) {
    return E5M2ToF32(static_cast<unsigned char>(code));
  }
};
#endif

template <class F>
AICF_DEVICE unsigned char F32ToFloat8(float value) {
  return Float8Conversion<F>::From(value);
}
template <class F>
AICF_DEVICE float Float8ToF32(unsigned code) {
  return Float8Conversion<F>::ToF32(code);
}

/// An integer of Bits bits in a byte of type T, sign- or zero-extended.
template <class T, int Bits>
struct SmallInteger {
  T value;
};
typedef SmallInteger<signed char, 4> i4;
typedef SmallInteger<unsigned char, 4> u4;
typedef SmallInteger<signed char, 2> i2;
typedef SmallInteger<unsigned char, 2> u2;

/// The low bits of v, sign-extended if T is signed and zero-extended otherwise.
template <class T, int Bits>
AICF_DEVICE T LowBits(T v) {
  const int low = v & ((1 << Bits) - 1);
  constexpr int kSignBit = static_cast<T>(-1) < 0 ? 1 << (Bits - 1) : 0;
  return static_cast<T>((low ^ kSignBit) - kSignBit);
}

}  // namespace aicf
