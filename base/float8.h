/// The floats of 8 and 4 bits that ONNX names: FLOAT8E4M3FN, E4M3FNUZ, E5M2, E5M2FNUZ, E8M0,
/// FLOAT4E2M1. One byte holds one value; FLOAT4E2M1 uses its low four bits.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "base/dtype.h"

namespace aicf {

/// A sign bit (not E8M0), `exponent` and `mantissa` bits, in that order.
struct Float8Format {
  int exponent = 4;
  int mantissa = 3;
  int bias = 7;
  uint8_t max = 0x7e;       ///< code of the largest finite value
  uint8_t overflow = 0x7f;  ///< code, without sign, of values that lie beyond `max`
  uint8_t nan = 0x7f;
  uint8_t sign = 0x80;      ///< 0: no sign bit
  bool negative_zero = true;
};

/// REQUIRES: IsFloat(dtype) && IsStorageOnly(dtype).
constexpr Float8Format Float8FormatOf(DType dtype) {
  switch (dtype) {
    case DType::kF8E4M3FNUZ:
      return {4, 3, 8, 0x7f, 0x80, 0x80, 0x80, false};
    case DType::kF8E5M2:
      return {5, 2, 15, 0x7b, 0x7c, 0x7f, 0x80, true};
    case DType::kF8E5M2FNUZ:
      return {5, 2, 16, 0x7f, 0x80, 0x80, 0x80, false};
    case DType::kF8E8M0:
      return {8, 0, 127, 0xfe, 0xff, 0xff, 0, false};
    case DType::kF4E2M1:
      return {2, 1, 1, 0x7, 0x7, 0x0, 0x8, true};
    default:
      return {};
  }
}

/// The value of a code, which f32 represents exactly.
inline float Float8ToF32(uint8_t code, DType dtype) {
  const Float8Format f = Float8FormatOf(dtype);
  if (dtype == DType::kF4E2M1) code &= 0xf;
  const uint8_t magnitude = f.sign == 0 ? code : static_cast<uint8_t>(code & (f.sign - 1));
  const float sign = (code & f.sign) != 0 ? -1.0f : 1.0f;
  const bool has_nan = dtype != DType::kF4E2M1;
  if (has_nan && (f.nan == f.sign ? code == f.nan : magnitude > f.max)) {
    const bool infinite = f.overflow != f.nan && magnitude == f.overflow;
    return infinite ? sign * std::numeric_limits<float>::infinity()
                    : std::numeric_limits<float>::quiet_NaN();
  }
  if (f.mantissa == 0) return std::ldexp(1.0f, magnitude - f.bias);
  const int exponent = magnitude >> f.mantissa;
  const int fraction = magnitude & ((1 << f.mantissa) - 1);
  const int scaled = exponent == 0 ? fraction : fraction + (1 << f.mantissa);
  return sign * std::ldexp(static_cast<float>(scaled),
                           (exponent == 0 ? 1 : exponent) - f.bias - f.mantissa);
}

/// The code of the nearest value, ties to even. A value that overflows becomes infinity, or NaN in
/// a format without infinity; FLOAT4E2M1 has neither, so overflow becomes the largest value and NaN
/// becomes zero. E8M0 has neither sign nor mantissa: only the magnitude's power of two is kept.
inline uint8_t F32ToFloat8(float value, DType dtype) {
  const Float8Format f = Float8FormatOf(dtype);
  if (std::isnan(value)) return f.nan;
  const uint8_t sign = std::signbit(value) ? f.sign : 0;
  const double magnitude = std::fabs(static_cast<double>(value));
  const auto overflow = [&] { return f.overflow == f.sign ? f.overflow : f.overflow | sign; };
  if (std::isinf(value)) return static_cast<uint8_t>(overflow());
  if (magnitude == 0) return f.negative_zero ? sign : 0;
  const int least = f.mantissa == 0 ? -f.bias : 1 - f.bias;
  int exponent = std::ilogb(magnitude);
  if (exponent < least) exponent = least;
  // The magnitude in units of the last place at this exponent, rounded to an integer.
  const double units = std::nearbyint(std::ldexp(magnitude, f.mantissa - exponent));
  int64_t code = static_cast<int64_t>(units);
  if (f.mantissa == 0) {
    code = exponent + f.bias + (units >= 2 ? 1 : 0);
    if (units < 1) code = 0;
  } else if (code >= (int64_t{1} << f.mantissa)) {
    // Adding instead of OR-ing lets a mantissa that was rounded up carry into the exponent.
    code += (static_cast<int64_t>(exponent + f.bias) - 1) << f.mantissa;
  }
  if (code > f.max) return static_cast<uint8_t>(overflow());
  if (code == 0 && !f.negative_zero) return 0;
  return static_cast<uint8_t>(code | sign);
}

}  // namespace aicf
