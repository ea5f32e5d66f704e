// cuda.sample.taps: a thread computes the taps of one point once and uses them for a few channels.
// If channels are innermost, neighbouring threads take neighbouring channels instead. The
// coordinate map is that of kernels/cpu/sample/coordinates.h, operation by operation.
#pragma once

#include "common/enums.cuh"
#include "common/indices.cuh"

namespace aicf {

/// f32 where the data allow; f64 for everything else (integers stay exact below 2^53).
template <class T>
struct WideOf {
  typedef double W;
};
template <>
struct WideOf<float> {
  typedef float W;
};
typedef WideOf<raw_t>::W sum_t;
typedef ComputeOf<In1::S>::T coord_t;

constexpr int kRank = In0::kRank;
constexpr int kSpatial = kRank - 2;
constexpr int kTaps = attr_mode == kNearest ? 1 : attr_mode == kLinear ? 2 : 4;

struct Taps {
  index_t index[kTaps];  ///< -1 reads as zero
  sum_t weight[kTaps];
};

/// Mirrors v at `low` and `high` until it lies between them. Every v becomes `low` on an axis
/// without length, where `high` is not above `low`.
AICF_DEVICE coord_t Reflected(coord_t v, coord_t low, coord_t high) {
  const coord_t range = high - low;
  if (!(range > 0)) return low;
  const bool below = v < low;
  if (!below && !(v > high)) return v;
  const coord_t beyond = below ? low - v : v - high;
  const coord_t turns = OpTrunc(beyond / range);
  const coord_t rest = beyond - turns * range;
  const bool even = OpFmod(turns, coord_t(2)) == 0;
  return below == even ? low + rest : high - rest;
}

AICF_DEVICE index_t PaddedIndex(coord_t v, index_t extent, coord_t low, coord_t high) {
  constexpr coord_t kFar = 1 << 30;
  if constexpr (attr_padding == kPadReflection) v = OpTrunc(Reflected(v, low, high));
  const coord_t clamped = v > -kFar ? (v < kFar ? v : kFar) : -kFar;
  const index_t i = static_cast<index_t>(clamped);
  if (i >= 0 && i < extent) return i;
  if (attr_padding == kPadZeros || extent == 0) return -1;
  return i < 0 ? 0 : extent - 1;
}

AICF_DEVICE void CubicWeights(coord_t t, coord_t (&w)[4]) {
  constexpr coord_t a = -0.75;
  const coord_t before = t + 1, after = 1 - t, last = 2 - t;
  w[0] = ((a * before - 5 * a) * before + 8 * a) * before - 4 * a;
  w[1] = ((a + 2) * t - (a + 3)) * t * t + 1;
  w[2] = ((a + 2) * after - (a + 3)) * after * after + 1;
  w[3] = ((a * last - 5 * a) * last + 8 * a) * last - 4 * a;
}

/// The taps along an axis of `extent` elements at the place that grid value `n` names.
AICF_DEVICE Taps TapsOf(index_t extent, coord_t n) {
  const coord_t length = static_cast<coord_t>(extent);
  const coord_t low = attr_align_corners ? coord_t(0) : coord_t(-0.5);
  const coord_t high = attr_align_corners ? length - 1 : length - coord_t(0.5);
  coord_t v = attr_align_corners ? (n + 1) / 2 * (length - 1) : ((n + 1) * length - 1) / 2;
  if constexpr (attr_mode == kNearest) v = OpRound(v);
  if (attr_mode != kCubic && (v < low || v > high)) {
    if constexpr (attr_padding == kPadBorder) v = v < 0 ? coord_t(0) : length - 1;
    if constexpr (attr_padding == kPadReflection) v = Reflected(v, low, high);
  }
  const coord_t whole = OpFloor(v);
  const coord_t base = kTaps == 1 ? v : whole - (kTaps == 4 ? 1 : 0);
  const coord_t t = v - whole;
  coord_t weight[4] = {kTaps == 2 ? 1 - t : coord_t(1), t, 0, 0};
  if constexpr (kTaps == 4) CubicWeights(t, weight);
  Taps taps;
#pragma unroll
  for (int k = 0; k < kTaps; ++k) {
    taps.index[k] = PaddedIndex(base + static_cast<coord_t>(k), extent, low, high);
    taps.weight[k] = static_cast<sum_t>(weight[k]);
  }
  return taps;
}

/// Sum over the taps of the spatial axes D and later.
template <int D>
AICF_DEVICE sum_t Sum(const Taps (&taps)[kSpatial], const In0::S* x) {
  if constexpr (D == kSpatial) {
    return static_cast<sum_t>(Widen(*x));
  } else {
    sum_t sum = 0;
#pragma unroll
    for (int k = 0; k < kTaps; ++k) {
      if (taps[D].index[k] < 0) continue;
      const In0::S* at = x + taps[D].index[k] * In0::stride(D + 2);
      sum += taps[D].weight[k] * Sum<D + 1>(taps, at);
    }
    return sum;
  }
}

AICF_DEVICE Out0::S SampleAt(const Taps (&taps)[kSpatial], const In0::S* x) {
  if constexpr (kTaps == 1) {
    bool inside = true;
#pragma unroll
    for (int d = 0; d < kSpatial; ++d) {
      inside &= taps[d].index[0] >= 0;
      x += taps[d].index[0] * In0::stride(d + 2);
    }
    return inside ? *x : Narrow<Out0::S>::Of(raw_t(0));
  } else {
    return Narrow<Out0::S>::Of(OpCast<raw_t>(Sum<0>(taps, x)));
  }
}

constexpr index_t kChannels = In0::extent(1);
constexpr index_t kPoints =
    static_cast<index_t>(CountOf<Out0, 2, kRank>() * static_cast<i64>(Out0::extent(0)));
constexpr bool kChannelsInner = Out0::stride(1) == 1 && kChannels > 1;
constexpr index_t kGroup = kChannelsInner || kChannels < 4 ? 1 : 4;  ///< channels per thread
constexpr index_t kGroups = (kChannels + kGroup - 1) / kGroup;

AICF_DEVICE void Kernel(const Args& args) {
  const index_t first = static_cast<index_t>(blockIdx.x) * kBlockX + threadIdx.x;
  for (index_t i = first; i < kPoints * kGroups; i += kGridX * kBlockX) {
    const index_t point = kChannelsInner ? i / kGroups : i % kPoints;
    const index_t group = kChannelsInner ? i % kGroups : i / kPoints;
    constexpr i64 kArea = CountOf<Out0, 2, kRank>();
    const index_t area = static_cast<index_t>(kArea > 0 ? kArea : 1);
    const index_t n = point / area, place = point % area;
    const index_t grid =
        In1::kOffset + n * In1::stride(0) + OffsetOf<Out0, In1, 2, kRank, -1>(place);
    Taps taps[kSpatial];
#pragma unroll
    for (int d = 0; d < kSpatial; ++d) {
      const index_t at = grid + (kSpatial - 1 - d) * In1::stride(kRank - 1);
      taps[d] = TapsOf(In0::extent(d + 2), Widen(static_cast<const In1::S*>(args.in[1])[at]));
    }
    const In0::S* x = static_cast<const In0::S*>(args.in[0]) + In0::kOffset + n * In0::stride(0);
    Out0::S* out = static_cast<Out0::S*>(args.out[0]) + Out0::kOffset + n * Out0::stride(0) +
                   OffsetOf<Out0, Out0, 2, kRank>(place);
#pragma unroll
    for (index_t j = 0; j < kGroup; ++j) {
      const index_t c = group * kGroup + j;
      if (c < kChannels) out[c * Out0::stride(1)] = SampleAt(taps, x + c * In0::stride(1));
    }
  }
}

}  // namespace aicf
