// cuda.resize.taps: kVector neighbouring results per thread. Each result is a weighted sum over all
// combinations of its axes' taps (the input elements that it depends on along an axis). If the
// output's contiguous axis keeps its length and is contiguous in the input as well, the taps of
// neighbouring results are neighbours and are read as vectors; otherwise a thread has one result.
// The coordinate map is that of kernels/cpu/resize/coordinates.cc: f32, and f64 for align_corners.
#pragma once

#include "common/enums.cuh"

namespace aicf {

/// Weights and sums: f32 for f32 data, f64 for everything else (integers stay exact below 2^53).
template <class T>
struct WeightOf {
  typedef double W;
};
template <>
struct WeightOf<float> {
  typedef float W;
};
typedef WeightOf<raw_t>::W weight_t;

template <bool kWide>
struct CoordinateOf {
  typedef float X;
};
template <>
struct CoordinateOf<true> {
  typedef double X;
};
typedef CoordinateOf<attr_coordinates == kAlignCorners>::X coordinate_t;

AICF_DEVICE constexpr bool Kept(int d) {
  return In0::extent(d) == Out0::extent(d) && attr_scales(d) == 1.0;
}
AICF_DEVICE constexpr bool CopiesElements() {
  for (int d = 0; d < In0::kRank; ++d) {
    if (!Kept(d) && attr_mode != kNearest) return false;
  }
  return true;
}

struct Taps {
  index_t index[4];
  weight_t weight[4];
};
constexpr int kTaps = attr_mode == kNearest ? 1 : attr_mode == kLinear ? 2 : 4;

/// The output's extent as align_corners means it: scale * in, without rounding to an integer. If it
/// differs from the actual extent by no more than the scale's rounding to f32 explains, it is the
/// actual extent.
AICF_DEVICE double ResizedLength(int d) {
  const double length = attr_scales(d) * static_cast<double>(In0::extent(d));
  const double whole = static_cast<double>(Out0::extent(d));
  return OpAbs(length - whole) <= whole * (1.0 / 4194304) ? whole : length;
}

AICF_DEVICE coordinate_t SourceCoordinate(int d, index_t o) {
  const float scale = static_cast<float>(attr_scales(d));
  const float x = static_cast<float>(o);
  const float length = static_cast<float>(In0::extent(d));
  const float resized = static_cast<float>(Out0::extent(d));
  if constexpr (attr_coordinates == kAsymmetric) return x / scale;
  if constexpr (attr_coordinates == kTfHalfPixelForNN) return (x + 0.5f) / scale;
  if constexpr (attr_coordinates == kAlignCorners) {
    const double last = ResizedLength(d) - 1;
    return last == 0 ? 0 : static_cast<double>(o) * static_cast<double>(In0::extent(d) - 1) / last;
  }
  if constexpr (attr_coordinates == kPytorchHalfPixel) {
    return Out0::extent(d) > 1 ? (x + 0.5f) / scale - 0.5f : 0.0f;
  }
  if constexpr (attr_coordinates == kHalfPixelSymmetric) {
    const float adjustment = resized / (scale * length);
    const float offset = length / 2.0f * (1.0f - adjustment);
    return offset + (x + 0.5f) / scale - 0.5f;
  }
  return (x + 0.5f) / scale - 0.5f;
}

AICF_DEVICE index_t ClampIndex(index_t i, index_t extent) {
  return i < 0 ? 0 : i < extent ? i : extent - 1;
}

template <class X>
AICF_DEVICE index_t NearestOf(X x) {
  if constexpr (attr_nearest == kRoundPreferFloor) return static_cast<index_t>(ceil(x - X(0.5)));
  if constexpr (attr_nearest == kRoundPreferCeil) return static_cast<index_t>(floor(x + X(0.5)));
  if constexpr (attr_nearest == kFloor) return static_cast<index_t>(floor(x));
  return static_cast<index_t>(ceil(x));
}

/// Adding or subtracting a half is exact in f32 below 2^22, with one exception: the largest number
/// below a half, plus a half, becomes 1. Where it may not be exact, the index is computed in f64.
AICF_DEVICE index_t NearestIndex(coordinate_t x, index_t extent) {
  if (attr_nearest == kRoundPreferCeil || extent >= (index_t(1) << 22)) {
    return NearestOf(static_cast<double>(x));
  }
  return NearestOf(x);
}

AICF_DEVICE weight_t CubicWeight(weight_t d) {
  const weight_t a = static_cast<weight_t>(attr_cubic_a);
  d = OpAbs(d);
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
}

AICF_DEVICE void CubicTaps(Taps& taps, coordinate_t x, index_t extent) {
  typedef decltype(coordinate_t() + weight_t()) Wide;
  const index_t base = static_cast<index_t>(OpFloor(x));
  weight_t sum = 0;
#pragma unroll
  for (int t = 0; t < kTaps; ++t) {
    const index_t at = base + t - 1;
    const bool outside = at < 0 || at >= extent;
    const Wide distance = static_cast<Wide>(x) - static_cast<Wide>(at);
    taps.index[t] = ClampIndex(at, extent);
    taps.weight[t] = outside && attr_exclude_outside ? weight_t(0)
                                                     : CubicWeight(static_cast<weight_t>(distance));
    sum += taps.weight[t];
  }
  if constexpr (attr_exclude_outside) {
#pragma unroll
    for (int t = 0; t < kTaps; ++t) taps.weight[t] /= sum;
  }
}

AICF_DEVICE Taps TapsAt(int d, index_t o) {
  Taps taps = {};
  const index_t extent = In0::extent(d);
  const coordinate_t x = SourceCoordinate(d, o);
  if constexpr (attr_mode == kNearest) {
    taps.index[0] = ClampIndex(NearestIndex(x, extent), extent);
    taps.weight[0] = 1;
  } else if constexpr (attr_mode == kLinear) {
    const coordinate_t base = OpFloor(x);
    taps.index[0] = ClampIndex(static_cast<index_t>(base), extent);
    taps.index[1] = ClampIndex(static_cast<index_t>(base) + 1, extent);
    taps.weight[1] = static_cast<weight_t>(x - base);
    taps.weight[0] = 1 - taps.weight[1];
  } else {
    CubicTaps(taps, x, extent);
  }
  return taps;
}

constexpr bool kAlongKept = kInnerAxis >= 0 && Kept(kInnerAxis >= 0 ? kInnerAxis : 0) &&
                            In0::stride(kInnerAxis >= 0 ? kInnerAxis : 0) == 1 &&
                            Out0::extent(kInnerAxis >= 0 ? kInnerAxis : 0) % kVector == 0;
constexpr int kResults = kAlongKept ? kVector : 1;
constexpr int kLoad = kAlongKept ? PieceOf<In0::S>(kVector, In0::run(kInnerAxis)) : 1;

struct Results {
  weight_t sum[kResults];
  raw_t copied[kResults];
};

/// Adds the elements at p, weighted. An element of weight 0 is not read, because an infinite one
/// would turn the sum into NaN.
AICF_DEVICE void AddTap(const In0::S* p, weight_t weight, Results& to) {
  if (!CopiesElements() && weight == 0) return;
#pragma unroll
  for (int j = 0; j < kResults; j += kLoad) {
    const Pack<In0::S, kLoad> pack = *reinterpret_cast<const Pack<In0::S, kLoad>*>(p + j);
#pragma unroll
    for (int i = 0; i < kLoad; ++i) {
      if constexpr (CopiesElements())
        to.copied[j + i] = Widen(pack.v[i]);
      else
        to.sum[j + i] += weight * static_cast<weight_t>(Widen(pack.v[i]));
    }
  }
}

/// Adds the taps of axes D and above.
template <int D>
AICF_DEVICE void AddTaps(const Point& point, const In0::S* p, weight_t weight, Results& to) {
  if constexpr (D == In0::kRank) {
    AddTap(p, weight, to);
  } else if constexpr (Kept(D)) {
    AddTaps<D + 1>(point, p + point.c[D] * In0::stride(D), weight, to);
  } else {
    const Taps taps = TapsAt(D, point.c[D]);
#pragma unroll
    for (int t = 0; t < kTaps; ++t) {
      AddTaps<D + 1>(point, p + taps.index[t] * In0::stride(D), weight * taps.weight[t], to);
    }
  }
}

AICF_DEVICE void Kernel(const Args& args) {
  const In0::S* x = static_cast<const In0::S*>(args.in[0]) + In0::kOffset;
  const index_t first = (static_cast<index_t>(blockIdx.x) * kBlockX + threadIdx.x) * kResults;
  for (index_t i = first; i < kOutputCount0; i += kGridX * kBlockX * kResults) {
    Results results = {};
    AddTaps<0>(OutputPoint(i), x, weight_t(1), results);
    raw_t raw[kResults];
#pragma unroll
    for (int j = 0; j < kResults; ++j) {
      raw[j] = CopiesElements() ? results.copied[j] : OpCast<raw_t>(results.sum[j]);
    }
    Epilogue::Store<kResults>(args, raw, i);
  }
}

}  // namespace aicf
