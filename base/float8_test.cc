// Every format against a table made from its definition: the values of all codes, and the nearest
// code found by search.
#include "base/float8.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace aicf {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Format {
  DType dtype;
  int codes;  // of the magnitude, in ascending order of value
  int exponent, mantissa, bias;
  int finite;   // codes below this one are finite magnitudes
  int sign;     // 0: no sign
  int special;  // code of what overflows, without sign
  bool signed_special;
};

constexpr Format kFormats[] = {
    {DType::kF8E4M3FN, 128, 4, 3, 7, 0x7f, 0x80, 0x7f, true},
    {DType::kF8E4M3FNUZ, 128, 4, 3, 8, 0x80, 0x80, 0x80, false},
    {DType::kF8E5M2, 128, 5, 2, 15, 0x7c, 0x80, 0x7c, true},
    {DType::kF8E5M2FNUZ, 128, 5, 2, 16, 0x80, 0x80, 0x80, false},
    {DType::kF8E8M0, 256, 8, 0, 127, 0xff, 0, 0xff, false},
    {DType::kF4E2M1, 8, 2, 1, 1, 8, 0x8, 0x7, true},
};

bool IsUnsignedZero(DType d) { return d == DType::kF8E4M3FNUZ || d == DType::kF8E5M2FNUZ; }

// The value of a finite magnitude, from the meaning of its fields.
double ValueOf(const Format& f, int code) {
  if (f.mantissa == 0) return std::pow(2.0, code - f.bias);
  const int field = code / (1 << f.mantissa), fraction = code % (1 << f.mantissa);
  const double part = fraction / static_cast<double>(1 << f.mantissa);
  return field == 0 ? part * std::pow(2.0, 1 - f.bias) : (1 + part) * std::pow(2.0, field - f.bias);
}

// The nearest code of a magnitude, ties to the even one; `finite` where the value lies beyond the
// half-way point to a next value that does not exist.
int NearestMagnitude(const Format& f, double magnitude) {
  const double largest = ValueOf(f, f.finite - 1);
  const double step = f.mantissa == 0 ? largest : largest - ValueOf(f, f.finite - 2);
  const double end = largest + step / 2;
  // A tie goes to the even one of the last code and its missing successor.
  if (magnitude > end || (magnitude == end && (f.finite - 1) % 2 == 1 && f.mantissa > 0)) {
    return f.finite;
  }
  if (f.mantissa == 0 && magnitude == end) return f.finite;
  int best = 0;
  for (int code = 1; code < f.finite; ++code) {
    const double now = std::fabs(ValueOf(f, code) - magnitude);
    const double before = std::fabs(ValueOf(f, best) - magnitude);
    // Without a mantissa every power of two counts as even from below.
    const bool tie_up = f.mantissa == 0 || code % 2 == 0;
    if (now < before || (now == before && tie_up)) best = code;
  }
  return best;
}

int ExpectedCode(const Format& f, float value) {
  const int sign = std::signbit(value) ? f.sign : 0;
  int code = f.special;
  if (!std::isinf(value)) {
    code = NearestMagnitude(f, std::fabs(static_cast<double>(value)));
    if (code == 0 && IsUnsignedZero(f.dtype)) return 0;
    if (code < f.finite) return code | sign;
    code = f.special;
  }
  return f.signed_special ? code | sign : code;
}

TEST(Float8, EveryFiniteCodeHasItsValueAndRoundTrips) {
  for (const Format& f : kFormats) {
    for (int code = 0; code < f.finite; ++code) {
      const auto byte = static_cast<uint8_t>(code);
      EXPECT_EQ(Float8ToF32(byte, f.dtype), ValueOf(f, code)) << DTypeName(f.dtype) << code;
      EXPECT_EQ(F32ToFloat8(Float8ToF32(byte, f.dtype), f.dtype), byte)
          << DTypeName(f.dtype) << code;
      if (f.sign == 0 || (code == 0 && IsUnsignedZero(f.dtype))) continue;
      const auto negative = static_cast<uint8_t>(code | f.sign);
      EXPECT_EQ(Float8ToF32(negative, f.dtype), -ValueOf(f, code));
      EXPECT_TRUE(std::signbit(Float8ToF32(negative, f.dtype)));
      EXPECT_EQ(F32ToFloat8(Float8ToF32(negative, f.dtype), f.dtype), negative);
    }
  }
}

TEST(Float8, SpecialCodes) {
  for (int code : {0x7f, 0xff}) {
    EXPECT_TRUE(std::isnan(Float8ToF32(static_cast<uint8_t>(code), DType::kF8E4M3FN)));
    EXPECT_TRUE(std::isnan(Float8ToF32(static_cast<uint8_t>(code), DType::kF8E5M2)));
  }
  for (int code : {0x7d, 0x7e, 0xfd, 0xfe}) {
    EXPECT_TRUE(std::isnan(Float8ToF32(static_cast<uint8_t>(code), DType::kF8E5M2)));
  }
  EXPECT_EQ(Float8ToF32(0x7c, DType::kF8E5M2), kInfinity);
  EXPECT_EQ(Float8ToF32(0xfc, DType::kF8E5M2), -kInfinity);
  EXPECT_TRUE(std::isnan(Float8ToF32(0x80, DType::kF8E4M3FNUZ)));
  EXPECT_TRUE(std::isnan(Float8ToF32(0x80, DType::kF8E5M2FNUZ)));
  EXPECT_TRUE(std::isnan(Float8ToF32(0xff, DType::kF8E8M0)));
  // The high bits of a float4's byte carry nothing.
  EXPECT_EQ(Float8ToF32(0x5a, DType::kF4E2M1), -1.0f);
}

// Values that the ONNX and OCP documents state.
TEST(Float8, KnownLimits) {
  EXPECT_EQ(Float8ToF32(0x7e, DType::kF8E4M3FN), 448.0f);
  EXPECT_EQ(Float8ToF32(0x01, DType::kF8E4M3FN), 0x1p-9f);
  EXPECT_EQ(Float8ToF32(0x7f, DType::kF8E4M3FNUZ), 240.0f);
  EXPECT_EQ(Float8ToF32(0x01, DType::kF8E4M3FNUZ), 0x1p-10f);
  EXPECT_EQ(Float8ToF32(0x7b, DType::kF8E5M2), 57344.0f);
  EXPECT_EQ(Float8ToF32(0x01, DType::kF8E5M2), 0x1p-16f);
  EXPECT_EQ(Float8ToF32(0x7f, DType::kF8E5M2FNUZ), 57344.0f);
  EXPECT_EQ(Float8ToF32(0x01, DType::kF8E5M2FNUZ), 0x1p-17f);
  EXPECT_EQ(Float8ToF32(0xfe, DType::kF8E8M0), 0x1p127f);
  EXPECT_EQ(Float8ToF32(0x00, DType::kF8E8M0), 0x1p-127f);
  EXPECT_EQ(Float8ToF32(0x07, DType::kF4E2M1), 6.0f);
  EXPECT_EQ(Float8ToF32(0x01, DType::kF4E2M1), 0.5f);
}

TEST(Float8, TiesGoToEvenAndOverflowBecomesWhatTheFormatHas) {
  EXPECT_EQ(F32ToFloat8(464.0f, DType::kF8E4M3FN), 0x7e);  // half-way to 480: even is 448
  EXPECT_EQ(F32ToFloat8(464.1f, DType::kF8E4M3FN), 0x7f);
  EXPECT_EQ(F32ToFloat8(-kInfinity, DType::kF8E4M3FN), 0xff);
  EXPECT_EQ(F32ToFloat8(248.0f, DType::kF8E4M3FNUZ), 0x80);
  EXPECT_EQ(F32ToFloat8(247.9f, DType::kF8E4M3FNUZ), 0x7f);
  EXPECT_EQ(F32ToFloat8(61440.0f, DType::kF8E5M2), 0x7c);
  EXPECT_EQ(F32ToFloat8(-61440.0f, DType::kF8E5M2), 0xfc);
  EXPECT_EQ(F32ToFloat8(61439.0f, DType::kF8E5M2), 0x7b);
  EXPECT_EQ(F32ToFloat8(-0.0f, DType::kF8E5M2), 0x80);
  EXPECT_EQ(F32ToFloat8(-0.0f, DType::kF8E4M3FNUZ), 0x00);
  EXPECT_EQ(F32ToFloat8(-1e-9f, DType::kF8E5M2FNUZ), 0x00);
  EXPECT_EQ(F32ToFloat8(0x1p-10f, DType::kF8E4M3FN), 0x00);  // half the least: even is zero
  EXPECT_EQ(F32ToFloat8(0x1.8p-9f, DType::kF8E4M3FN), 0x02);
  EXPECT_EQ(F32ToFloat8(2.5f, DType::kF4E2M1), 0x4);
  EXPECT_EQ(F32ToFloat8(3.5f, DType::kF4E2M1), 0x6);
  EXPECT_EQ(F32ToFloat8(-100.0f, DType::kF4E2M1), 0xf);
  EXPECT_EQ(F32ToFloat8(1.5f, DType::kF8E8M0), 128);
  EXPECT_EQ(F32ToFloat8(1.49f, DType::kF8E8M0), 127);
  EXPECT_EQ(F32ToFloat8(0.0f, DType::kF8E8M0), 0);
  EXPECT_EQ(F32ToFloat8(0x1.8p127f, DType::kF8E8M0), 0xff);
}

TEST(Float8, NanStaysNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const Format& f : kFormats) {
    const uint8_t code = F32ToFloat8(nan, f.dtype);
    if (f.dtype == DType::kF4E2M1) {
      EXPECT_EQ(code, 0);
    } else {
      EXPECT_TRUE(std::isnan(Float8ToF32(code, f.dtype))) << DTypeName(f.dtype);
    }
  }
}

void ExpectNearest(const Format& f, float value) {
  EXPECT_EQ(F32ToFloat8(value, f.dtype), ExpectedCode(f, value)) << DTypeName(f.dtype) << value;
}

TEST(Float8, EveryValueTakesTheNearestCode) {
  std::mt19937 rng(11);
  std::uniform_real_distribution<float> exponent(-20.0f, 20.0f);
  for (const Format& f : kFormats) {
    for (int code = 0; code + 1 < f.finite; ++code) {
      const auto low = static_cast<float>(ValueOf(f, code));
      const auto high = static_cast<float>(ValueOf(f, code + 1));
      const float middle = low + (high - low) / 2;
      for (float v : {middle, std::nextafter(middle, low), std::nextafter(middle, high)}) {
        ExpectNearest(f, v);
        if (f.sign != 0) ExpectNearest(f, -v);
      }
    }
    for (int i = 0; i < 2000; ++i) {
      const float v = std::exp2(exponent(rng));
      ExpectNearest(f, v);
      if (f.sign != 0) ExpectNearest(f, -v);
    }
    ExpectNearest(f, std::numeric_limits<float>::denorm_min());
    ExpectNearest(f, std::numeric_limits<float>::max());
    ExpectNearest(f, kInfinity);
    if (f.sign != 0) ExpectNearest(f, -kInfinity);
  }
}

}  // namespace
}  // namespace aicf
