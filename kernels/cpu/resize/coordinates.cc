#include "kernels/cpu/resize/coordinates.h"

#include <cmath>

namespace aicf::cpu {
namespace {

using abi::CoordinateMode;
using abi::NearestMode;
using abi::ResizeAttrs;
using abi::ResizeMode;

double NearestOf(NearestMode mode, double x) {
  switch (mode) {
    case NearestMode::kRoundPreferFloor:
      return std::ceil(x - 0.5);
    case NearestMode::kRoundPreferCeil:
      return std::floor(x + 0.5);
    case NearestMode::kFloor:
      return std::floor(x);
    default:
      return std::ceil(x);
  }
}

/// The index clamped to the axis, and 0 for NaN, so that what is read always lies inside the input.
int64_t ClampIndex(double index, int64_t extent) {
  if (!(index > 0)) return 0;
  const auto last = static_cast<double>(extent - 1);
  return index < last ? static_cast<int64_t>(index) : extent - 1;
}

/// Weight of an element at distance d from the coordinate.
double CubicWeight(double a, double d) {
  d = std::fabs(d);
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
}

AxisTaps CubicTaps(const ResizeAttrs& attrs, double x, int64_t in) {
  AxisTaps taps;
  taps.count = 4;
  const double base = std::floor(x);
  double sum = 0;
  for (int t = 0; t < 4; ++t) {
    const double position = base + t - 1;
    const bool outside = position < 0 || position > static_cast<double>(in - 1);
    taps.index[t] = ClampIndex(position, in);
    taps.weight[t] =
        outside && attrs.exclude_outside ? 0 : CubicWeight(attrs.cubic_a, x - position);
    sum += taps.weight[t];
  }
  if (attrs.exclude_outside) {
    for (double& weight : taps.weight) weight /= sum;
  }
  return taps;
}

AxisTaps LinearTaps(double x, int64_t in) {
  AxisTaps taps;
  taps.count = 2;
  const double base = std::floor(x);
  taps.index[0] = ClampIndex(base, in);
  taps.index[1] = ClampIndex(base + 1, in);
  taps.weight[1] = x - base;
  taps.weight[0] = 1 - taps.weight[1];
  return taps;
}

}  // namespace

double ResizedLength(double scale, int64_t in, int64_t out) {
  const double length = scale * static_cast<double>(in);
  const double whole = static_cast<double>(out);
  return std::fabs(length - whole) <= 0x1p-22 * whole ? whole : length;
}

double SourceCoordinate(const ResizeAttrs& attrs, int axis, int64_t in, int64_t out, int64_t o) {
  const double exact_scale = attrs.scales[static_cast<size_t>(axis)];
  const float scale = static_cast<float>(exact_scale);
  const float x = static_cast<float>(o);
  const float length = static_cast<float>(in);
  const float resized = static_cast<float>(out);
  switch (attrs.coordinates) {
    case CoordinateMode::kAsymmetric:
      return static_cast<double>(x / scale);
    case CoordinateMode::kTfHalfPixelForNN:
      return static_cast<double>((x + 0.5f) / scale);
    case CoordinateMode::kAlignCorners: {
      const double last = ResizedLength(exact_scale, in, out) - 1;
      return last == 0 ? 0 : static_cast<double>(o) * static_cast<double>(in - 1) / last;
    }
    case CoordinateMode::kPytorchHalfPixel:
      return out > 1 ? static_cast<double>((x + 0.5f) / scale - 0.5f) : 0;
    case CoordinateMode::kHalfPixelSymmetric: {
      const float adjustment = resized / (scale * length);
      const float offset = length / 2.0f * (1.0f - adjustment);
      return static_cast<double>(offset + (x + 0.5f) / scale - 0.5f);
    }
    default:
      return static_cast<double>((x + 0.5f) / scale - 0.5f);
  }
}

AxisTaps TapsOf(const ResizeAttrs& attrs, int axis, int64_t in, int64_t out, int64_t o) {
  if (in == out && attrs.scales[static_cast<size_t>(axis)] == 1.0) {
    return {1, {o}, {1.0}};
  }
  const double x = SourceCoordinate(attrs, axis, in, out, o);
  if (attrs.mode == ResizeMode::kNearest) {
    return {1, {ClampIndex(NearestOf(attrs.nearest, x), in)}, {1.0}};
  }
  return attrs.mode == ResizeMode::kLinear ? LinearTaps(x, in) : CubicTaps(attrs, x, in);
}

}  // namespace aicf::cpu
