/// Where the bins and samples of a box lie, shared by every variant so that all choose the same
/// elements. Evaluated in T (f32, or f64 for boxes of f64), operation by operation as in
/// kernels/cuda/roi/bins.cuh.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels/abi/attrs.h"
#include "kernels/abi/ranges.h"

namespace aicf::cpu {

/// A value as an integer; far outside for what has none (NaN, infinities).
template <class T>
int64_t ToWhole(T v) {
  constexpr T kFar = T(1 << 30);
  return static_cast<int64_t>(v > -kFar ? (v < kFar ? v : kFar) : -kFar);
}

/// One axis of a box under kAlign..: bins of `size` elements from `start` on, with `samples`
/// samples in each. Where the box determines their number, it is limited (abi::kMaxRoiSamples),
/// since otherwise an unbounded box would make the kernel run without end.
template <class T>
struct AlignAxis {
  T start, size;
  int64_t samples;

  AlignAxis(const abi::RoiAttrs& attrs, T first, T last, int64_t pooled) {
    const T scale = static_cast<T>(attrs.spatial_scale);
    const T shift = attrs.half_pixel ? T(0.5) : T(0);
    start = first * scale - shift;
    T length = (last * scale - shift) - start;
    if (!attrs.half_pixel) length = length > 1 ? length : T(1);
    size = length / static_cast<T>(pooled);
    samples = attrs.sampling_ratio > 0
                  ? attrs.sampling_ratio
                  : std::clamp<int64_t>(ToWhole(std::ceil(size)), 0, abi::kMaxRoiSamples);
  }
  T Position(int64_t bin, int64_t sample) const {
    return start + static_cast<T>(bin) * size +
           (static_cast<T>(sample) + T(0.5)) * size / static_cast<T>(samples);
  }
};

/// The two elements of an axis beside a position; `inside` is false where the sample reads as zero.
template <class T>
struct AlignSample {
  int64_t low = 0, high = 0;
  T low_weight = 0, high_weight = 0;
  bool inside = false;

  AlignSample(T at, int64_t extent) {
    if (!(at >= -1 && at <= static_cast<T>(extent)) || extent == 0) return;
    inside = true;
    if (at < 0) at = 0;
    low = static_cast<int64_t>(at);
    if (low >= extent - 1) {
      low = extent - 1;
      at = static_cast<T>(low);
    }
    high = std::min(low + 1, extent - 1);
    high_weight = at - static_cast<T>(low);
    low_weight = 1 - high_weight;
  }
};

/// kPoolMax: elements [begin, end) of an axis under a bin.
struct PoolBin {
  int64_t begin, end;

  template <class T>
  PoolBin(const abi::RoiAttrs& attrs, T first, T last, int64_t pooled, int64_t bin,
          int64_t extent) {
    const T scale = static_cast<T>(attrs.spatial_scale);
    const int64_t start = ToWhole(std::round(first * scale));
    const int64_t length = std::max<int64_t>(ToWhole(std::round(last * scale)) - start + 1, 1);
    const T size = static_cast<T>(length) / static_cast<T>(pooled);
    const int64_t from = ToWhole(std::floor(static_cast<T>(bin) * size)) + start;
    const int64_t to = ToWhole(std::ceil(static_cast<T>(bin + 1) * size)) + start;
    begin = std::clamp<int64_t>(from, 0, extent);
    end = std::clamp<int64_t>(to, 0, extent);
  }
};

}  // namespace aicf::cpu
