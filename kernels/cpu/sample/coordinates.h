/// The coordinate map of GridSample along one axis, shared by every variant so that all choose the
/// same elements. Evaluated in T (f32, or f64 for a grid of f64), operation by operation as in
/// kernels/cuda/sample/taps.cuh.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/abi/attrs.h"

namespace aicf::cpu {

/// Elements under one coordinate: index -1 reads as zero.
template <class T>
struct SampleTap {
  int64_t index[4];
  T weight[4];
};

inline int SampleTapCount(abi::ResizeMode mode) {
  return mode == abi::ResizeMode::kNearest ? 1 : mode == abi::ResizeMode::kLinear ? 2 : 4;
}

/// Mirrors v at low and high until it lies between them. If the interval has no length, the result
/// is low.
template <class T>
T Reflected(T v, T low, T high) {
  const T range = high - low;
  if (!(range > 0)) return low;
  const bool below = v < low;
  if (!below && !(v > high)) return v;
  const T beyond = below ? low - v : v - high;
  const T turns = std::trunc(beyond / range);
  const T rest = beyond - turns * range;
  const bool even = std::fmod(turns, T(2)) == 0;
  return below == even ? low + rest : high - rest;
}

/// The element that tap coordinate v names, or -1. NaN and infinities are far outside.
template <class T>
int64_t PaddedIndex(T v, int64_t extent, abi::SamplePadding padding, T low, T high) {
  constexpr T kFar = T(1 << 30);
  if (padding == abi::SamplePadding::kReflection) v = std::trunc(Reflected(v, low, high));
  const T clamped = v > -kFar ? (v < kFar ? v : kFar) : -kFar;
  const auto i = static_cast<int64_t>(clamped);
  if (i >= 0 && i < extent) return i;
  if (padding == abi::SamplePadding::kZeros || extent == 0) return -1;
  return i < 0 ? 0 : extent - 1;
}

/// Keys' cubic convolution with coefficient -0.75; t in [0, 1).
template <class T>
void CubicWeights(T t, T* w) {
  constexpr T a = T(-0.75);
  const T before = t + 1, after = 1 - t, last = 2 - t;
  w[0] = ((a * before - 5 * a) * before + 8 * a) * before - 4 * a;
  w[1] = ((a + 2) * t - (a + 3)) * t * t + 1;
  w[2] = ((a + 2) * after - (a + 3)) * after * after + 1;
  w[3] = ((a * last - 5 * a) * last + 8 * a) * last - 4 * a;
}

/// Where grid value `n` points along an axis of `extent` elements.
template <class T>
SampleTap<T> SampleTapsOf(const abi::SampleAttrs& attrs, int64_t extent, T n) {
  const T length = static_cast<T>(extent);
  const T low = attrs.align_corners ? T(0) : T(-0.5);
  const T high = attrs.align_corners ? length - 1 : length - T(0.5);
  T v = attrs.align_corners ? (n + 1) / 2 * (length - 1) : ((n + 1) * length - 1) / 2;
  if (attrs.mode == abi::ResizeMode::kNearest) v = std::nearbyint(v);
  // Cubic taps are padded one by one, as PyTorch and ONNX Runtime do; moving their centre first
  // would lose the slope at the border.
  if (attrs.mode != abi::ResizeMode::kCubic && (v < low || v > high)) {
    if (attrs.padding == abi::SamplePadding::kBorder) v = v < 0 ? T(0) : length - 1;
    if (attrs.padding == abi::SamplePadding::kReflection) v = Reflected(v, low, high);
  }
  SampleTap<T> tap;
  const int count = SampleTapCount(attrs.mode);
  const T base = count == 1 ? v : std::floor(v) - (count == 4 ? 1 : 0);
  for (int k = 0; k < count; ++k) {
    tap.index[k] = PaddedIndex(base + static_cast<T>(k), extent, attrs.padding, low, high);
  }
  const T t = v - std::floor(v);
  tap.weight[0] = count == 2 ? 1 - t : T(1);
  tap.weight[1] = t;
  if (count == 4) CubicWeights(t, tap.weight);
  return tap;
}

}  // namespace aicf::cpu
