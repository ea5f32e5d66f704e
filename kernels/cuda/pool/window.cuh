// cuda.pool.window: kVector neighbouring results per thread. If the channels are the output's
// contiguous axis, all results of a vector have the same window, and the input is read in vectors
// too.
#pragma once

#include "common/enums.cuh"
#include "pool/packed_max.cuh"

namespace aicf {

constexpr int kSpatial = Out0::kRank - 2;
constexpr bool kAlongChannels =
    kInnerAxis == 1 && In0::stride(1) == 1 && Out0::extent(1) % kVector == 0;
constexpr int kResults = kAlongChannels ? kVector : 1;
constexpr int kLoad = kAlongChannels ? PieceOf<In0::S>(kVector, In0::run(1)) : 1;

/// Whether the maxima of all elements of a word are found at once.
typedef PackedMax<In0::S> WordMax;
constexpr int kInWord = MaxOf(1, WordMax::kInWord);
constexpr bool kPacked = attr_kind == kPoolMax && WordMax::kInWord > 0 && kLoad % kInWord == 0;

/// Sums run in the input's compute type for floats and in f64 for integers.
template <class T>
struct SumOf {
  typedef double S;
};
template <>
struct SumOf<float> {
  typedef float S;
};
typedef SumOf<raw_t>::S sum_t;

struct Window {
  raw_t best[kResults];                             ///< without kPacked
  WordMax words[kPacked ? kResults / kInWord : 1];  ///< with kPacked
  sum_t sum[kResults];
  bool any = false;
  i64 inside = 0;         ///< elements of the input
  i64 inside_padded = 0;  ///< elements of the padded input
};

AICF_DEVICE sum_t PowerOf(sum_t v) {
  if constexpr (attr_kind != kPoolLp) return v;
  if constexpr (attr_p == 1) return OpAbs(v);
  if constexpr (attr_p == 2) return v * v;
  return OpPow(OpAbs(v), static_cast<sum_t>(attr_p));
}

AICF_DEVICE void Meet(Window& w, int j, raw_t value) {
  if constexpr (attr_kind == kPoolMax) {
    bool better = !w.any;
    if constexpr (kIsFloat<raw_t>) {
      better = better || (!(value <= w.best[j]) && w.best[j] == w.best[j]);
    } else {
      better = better || w.best[j] < value;
    }
    if (better) w.best[j] = value;
  } else {
    w.sum[j] = w.sum[j] + PowerOf(static_cast<sum_t>(value));
  }
}

AICF_DEVICE void MeetElement(Window& w, const In0::S* p) {
#pragma unroll
  for (int j = 0; j < kResults; j += kLoad) {
    if constexpr (kPacked) {
      constexpr int kWords = MaxOf(1, kLoad / kInWord);
      const Pack<u32, kWords> pack = *reinterpret_cast<const Pack<u32, kWords>*>(p + j);
#pragma unroll
      for (int i = 0; i < kWords; ++i) w.words[j / kInWord + i].Meet(pack.v[i]);
    } else {
      const Pack<In0::S, kLoad> pack = *reinterpret_cast<const Pack<In0::S, kLoad>*>(p + j);
#pragma unroll
      for (int i = 0; i < kLoad; ++i) Meet(w, j + i, Widen(pack.v[i]));
    }
  }
  w.any = true;
}

/// Walks the taps of spatial axis D and those inside it.
template <int D>
AICF_DEVICE void Walk(Window& w, const Point& point, const In0::S* p, bool inside, bool padded) {
  if constexpr (D == kSpatial) {
    w.inside += inside ? 1 : 0;
    w.inside_padded += padded ? 1 : 0;
    if (inside) MeetElement(w, p);
  } else {
    constexpr index_t kExtent = In0::extent(D + 2);
    const index_t start = point.c[D + 2] * static_cast<index_t>(attr_strides(D)) -
                          static_cast<index_t>(attr_pads_begin(D));
    for (index_t t = 0; t < static_cast<index_t>(attr_kernel(D)); ++t) {
      const index_t at = start + t * static_cast<index_t>(attr_dilations(D));
      const bool here = at >= 0 && at < kExtent;
      if (!here && !attr_count_include_pad) continue;
      Walk<D + 1>(w, point, p + (here ? at * In0::stride(D + 2) : 0), inside && here,
                  padded && at < kExtent + static_cast<index_t>(attr_pads_end(D)));
    }
  }
}

AICF_DEVICE raw_t FinishWindow(const Window& w, int j) {
  if constexpr (attr_kind == kPoolMax) {
    if (w.any) {
      if constexpr (kPacked)
        return Widen(w.words[j / kInWord].Of(j % kInWord));
      else
        return w.best[j];
    }
    return OpCast<raw_t>(FromBits64(0xfff0000000000000ull));
  } else if constexpr (attr_kind == kPoolLp) {
    if constexpr (attr_p == 1)
      return OpCast<raw_t>(w.sum[j]);
    else if constexpr (attr_p == 2)
      return OpCast<raw_t>(OpSqrt(w.sum[j]));
    else  // 1 / p is no f32 number
      return OpCast<raw_t>(OpPow(static_cast<double>(w.sum[j]), 1.0 / static_cast<double>(attr_p)));
  } else {
    const i64 count = attr_count_include_pad ? w.inside_padded : w.inside;
    return OpCast<raw_t>(w.sum[j] / static_cast<sum_t>(count));
  }
}

AICF_DEVICE void Kernel(const Args& args) {
  const index_t first = (static_cast<index_t>(blockIdx.x) * kBlockX + threadIdx.x) * kResults;
  for (index_t i = first; i < kOutputCount0; i += kGridX * kBlockX * kResults) {
    const Point point = OutputPoint(i);
    Window w;
#pragma unroll
    for (int j = 0; j < kResults; ++j) {
      w.best[j] = raw_t(0);
      w.sum[j] = 0;
    }
    if constexpr (kPacked) {
#pragma unroll
      for (WordMax& word : w.words) word.Start();
    }
    const In0::S* p = static_cast<const In0::S*>(args.in[0]) + In0::kOffset +
                      point.c[0] * In0::stride(0) + point.c[1] * In0::stride(1);
    Walk<0>(w, point, p, true, true);
    raw_t raw[kResults];
#pragma unroll
    for (int j = 0; j < kResults; ++j) raw[j] = FinishWindow(w, j);
    Epilogue::Store<kResults>(args, raw, i);
  }
}

}  // namespace aicf
