#include "compiler/passes/quantize/code.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/float8.h"

namespace aicf::quantize {
namespace {

// A zero point costs a term in the epilogue, and so has to gain something.
constexpr double kFinerBy = 0.75;

std::string Short(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.6g", value);
  return text;
}

ValueCode Unsigned(double low, double high) {
  ValueCode code{DType::kU8, ScaleFor(high - low, 255), 0};
  code.zero = static_cast<int>(std::nearbyint(-low / static_cast<double>(code.scale)));
  return code;
}

float Rounded(float value, const ValueCode& code, float inverse) {
  const float scaled = value * inverse;
  if (code.dtype == DType::kF8E4M3FN) {
    const float most = static_cast<float>(LargestCode(code.dtype));
    const uint8_t bits = F32ToFloat8(std::clamp(scaled, -most, most), code.dtype);
    return Float8ToF32(bits, code.dtype) * code.scale;
  }
  const auto zero = static_cast<float>(code.zero);
  const float low = code.dtype == DType::kI8 ? -128.0f : 0.0f, high = low + 255.0f;
  const float whole = std::clamp(std::nearbyint(scaled) + zero, low, high);
  return (whole - zero) * code.scale;
}

}  // namespace

double LargestCode(DType dtype) { return dtype == DType::kF8E4M3FN ? 448 : 127; }

// The reciprocal, which is what steps multiply by, has to be a normal float, too.
float ScaleFor(double limit, double largest) {
  const auto scale = static_cast<float>(limit / largest);
  return std::isnormal(scale) && std::isnormal(1 / scale) ? scale : 1;
}

namespace {

// Float8 numbers have exponents of their own. Where these reach from the largest magnitude down to
// a 128th of it or less, with digits left, the scale is 1: values are their own codes, and no step
// has to multiply.
constexpr double kLeastUnscaled = 0.25;

float Float8Scale(double limit) {
  const double largest = LargestCode(DType::kF8E4M3FN);
  return limit >= kLeastUnscaled && limit <= largest ? 1 : ScaleFor(limit, largest);
}

ValueCode CodeOfAll(const CalibratedValue& value, RangeMethod method, const CodeRules& rules) {
  const double limit = value.limit(method);
  if (rules.precision == DType::kF8E4M3FN) {
    return {DType::kF8E4M3FN, Float8Scale(limit), 0};
  }
  if (rules.never_negative) return Unsigned(0, limit);
  const double low = std::max(value.low, -limit), high = std::min(value.high, limit);
  const ValueCode code{DType::kI8, ScaleFor(limit, LargestCode(DType::kI8)), 0};
  if (!rules.takes_zero || low == high) return code;
  const ValueCode shifted = Unsigned(low, high);
  return static_cast<double>(shifted.scale) < kFinerBy * static_cast<double>(code.scale) ? shifted
                                                                                         : code;
}

}  // namespace

ValueCode CodeOf(const CalibratedValue& value, RangeMethod method, const CodeRules& rules) {
  ValueCode code = CodeOfAll(value, method, rules);
  if (value.channels.empty()) return code;
  code.channels = rules.channels;
  code.factors = ChannelFactors(value.channels);
  return code;
}

std::string CodeText(const ValueCode& code, RangeMethod method) {
  std::string more = code.zero == 0 ? "" : StrCat(", zero point ", code.zero);
  if (!code.factors.empty())
    more += StrCat(", times factors of ", code.factors.size(), " channels");
  return StrCat(DTypeName(code.dtype), ", scale ", Short(static_cast<double>(code.scale)), more,
                ", ", RangeMethodName(method));
}

std::vector<float> Inverses(const ValueCode& code) {
  if (code.factors.empty()) return {1 / code.scale};
  std::vector<float> inverses;
  for (const float factor : code.factors) inverses.push_back(1 / (code.scale * factor));
  return inverses;
}

void RoundToCodes(const ValueCode& code, std::span<const float> from, std::span<float> to) {
  const std::vector<float> inverses = Inverses(code);
  const auto stride = static_cast<size_t>(code.channels.stride);
  for (size_t i = 0; i < from.size(); ++i) {
    to[i] = Rounded(from[i], code, inverses[i / stride % inverses.size()]);
  }
}

}  // namespace aicf::quantize
