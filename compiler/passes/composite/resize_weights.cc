#include "compiler/passes/composite/resize_weights.h"

#include <algorithm>
#include <cmath>

#include "kernels/cpu/resize/coordinates.h"

namespace aicf {
namespace {

double CropCoordinate(const AxisResize& a, int64_t o) {
  const auto last = static_cast<double>(a.in - 1);
  if (a.out <= 1) return 0.5 * (a.roi_begin + a.roi_end) * last;
  const double step = (a.roi_end - a.roi_begin) * last / static_cast<double>(a.out - 1);
  return a.roi_begin * last + static_cast<double>(o) * step;
}

// Weight of an element at distance d, in input elements, where the input is not shrunk.
double Kernel(const abi::ResizeAttrs& attrs, double d) {
  d = std::fabs(d);
  if (attrs.mode == abi::ResizeMode::kLinear) return std::max(0.0, 1 - d);
  const double a = attrs.cubic_a;
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

double Nearest(abi::NearestMode mode, double x) {
  switch (mode) {
    case abi::NearestMode::kRoundPreferFloor:
      return std::ceil(x - 0.5);
    case abi::NearestMode::kRoundPreferCeil:
      return std::floor(x + 0.5);
    case abi::NearestMode::kFloor:
      return std::floor(x);
    default:
      return std::ceil(x);
  }
}

// `at` as an index in [0, extent). NaN gives 0: a coordinate may be NaN where the difference of a
// crop's ends overflows.
int64_t Clamped(double at, int64_t extent) {
  return at > 0 ? static_cast<int64_t>(std::min(at, static_cast<double>(extent - 1))) : 0;
}

// Where the input shrinks, antialias widens the kernel so that every element counts.
double ScaleOf(const AxisResize& a) { return a.antialias ? std::min(a.attrs.scales[0], 1.0) : 1.0; }

// Offset of the first element under the kernel from the last element before the coordinate.
double FirstOf(const AxisResize& a) {
  const double reach = (a.attrs.mode == abi::ResizeMode::kLinear ? 1 : 2) / ScaleOf(a);
  return std::floor(-reach) + 1;
}

}  // namespace

double TapsOf(const AxisResize& a) {
  return a.attrs.mode == abi::ResizeMode::kNearest ? 1 : 2 - 2 * FirstOf(a);
}

Taps WeightsOf(const AxisResize& a, int64_t o) {
  const double x =
      a.crop ? CropCoordinate(a, o) : cpu::SourceCoordinate(a.attrs, 0, a.in, a.out, o);
  Taps taps;
  const auto last = static_cast<double>(a.in - 1);
  taps.outside = a.crop && !(x >= 0 && x <= last);
  if (a.attrs.mode == abi::ResizeMode::kNearest) {
    taps.index.push_back(Clamped(Nearest(a.attrs.nearest, x), a.in));
    taps.weight.push_back(1);
    return taps;
  }
  const double scale = ScaleOf(a), count = TapsOf(a), first = std::ceil(x) - 1 + FirstOf(a);
  double sum = 0;
  for (double k = 0; k < count; ++k) {
    // The loop counts in k because far outside the input `at` and `at` + 1 may be the same number.
    const double at = first + k;
    const bool counts = !a.attrs.exclude_outside || (at >= 0 && at <= last);
    const double weight = counts ? Kernel(a.attrs, (at - x) * scale) : 0;
    taps.index.push_back(Clamped(at, a.in));
    taps.weight.push_back(weight);
    sum += weight;
  }
  for (double& weight : taps.weight) weight /= sum;
  return taps;
}

}  // namespace aicf
