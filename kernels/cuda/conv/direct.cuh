// cuda.conv.direct: one output element per thread, the sum in its order of definition. Takes every
// convolution, transposed ones too.
#pragma once

namespace aicf {

constexpr int kSpatial = Out0::kRank - 2;
constexpr index_t kGroups = static_cast<index_t>(attr_group);
constexpr index_t kChannels = In0::extent(1) / kGroups;
constexpr index_t kColumns = Out0::extent(1) / kGroups;
constexpr int kWeightChannel = attr_transposed ? 0 : 1;

/// Sums: f32 by fused multiply-add, f64 likewise, integers modulo 2^32 or 2^64.
template <class T>
struct SumTypeOf {
  typedef typename WrapOf<T>::U A;
};
template <>
struct SumTypeOf<float> {
  typedef float A;
};
template <>
struct SumTypeOf<double> {
  typedef double A;
};
typedef SumTypeOf<raw_t>::A acc_t;
AICF_DEVICE float MultiplyAdd(float a, float b, float c) { return fmaf(a, b, c); }
AICF_DEVICE double MultiplyAdd(double a, double b, double c) { return fma(a, b, c); }
template <class T>
AICF_DEVICE T MultiplyAdd(T a, T b, T c) {
  return a * b + c;
}

AICF_DEVICE acc_t SumChannels(const In0::S* x, const In1::S* w, acc_t sum) {
#pragma unroll 4
  for (index_t c = 0; c < kChannels; ++c) {
    sum = MultiplyAdd(static_cast<acc_t>(Widen(x[c * In0::stride(1)])),
                      static_cast<acc_t>(Widen(w[c * In1::stride(kWeightChannel)])), sum);
  }
  return sum;
}

/// Position that tap t of output position `out` reads along spatial axis D; false: none.
template <int D>
AICF_DEVICE bool SourceOf(index_t out, index_t t, index_t* at) {
  constexpr index_t kStep = static_cast<index_t>(attr_strides(D));
  const index_t reach = t * static_cast<index_t>(attr_dilations(D));
  if constexpr (attr_transposed) {
    const index_t scaled = out + static_cast<index_t>(attr_pads_begin(D)) - reach;
    if (scaled < 0 || scaled % kStep != 0) return false;
    *at = scaled / kStep;
  } else {
    *at = out * kStep + reach - static_cast<index_t>(attr_pads_begin(D));
  }
  return *at >= 0 && *at < In0::extent(D + 2);
}

template <int D>
AICF_DEVICE acc_t SumTaps(const Point& point, const In0::S* x, const In1::S* w, acc_t sum) {
  if constexpr (D == kSpatial) {
    return SumChannels(x, w, sum);
  } else {
    for (index_t t = 0; t < In1::extent(D + 2); ++t) {
      index_t at = 0;
      if (!SourceOf<D>(point.c[D + 2], t, &at)) continue;
      sum = SumTaps<D + 1>(point, x + at * In0::stride(D + 2), w + t * In1::stride(D + 2), sum);
    }
    return sum;
  }
}

AICF_DEVICE void Kernel(const Args& args) {
  constexpr index_t kCount = kOutputCount0 * kOutputCount1;
  constexpr index_t kInner = kOutputCount0 > 0 ? kOutputCount0 : 1;
  constexpr index_t kPerGroup = kColumns > 0 ? kColumns : 1;
  for (index_t i = static_cast<index_t>(blockIdx.x) * kBlockX + threadIdx.x; i < kCount;
       i += kGridX * kBlockX) {
    const index_t i0 = i % kInner, i1 = i / kInner;
    const Point point = OutputPoint(i0, i1);
    const index_t group = point.c[1] / kPerGroup, local = point.c[1] % kPerGroup;
    const In0::S* x = static_cast<const In0::S*>(args.in[0]) + In0::kOffset +
                      point.c[0] * In0::stride(0) + group * kChannels * In0::stride(1);
    const In1::S* w = static_cast<const In1::S*>(args.in[1]) + In1::kOffset +
                      (attr_transposed ? group * kChannels * In1::stride(0) + local * In1::stride(1)
                                       : point.c[1] * In1::stride(0));
    const acc_t sum = SumTaps<0>(point, x, w, acc_t(0));
    const raw_t raw[1] = {OpCast<raw_t>(sum)};
    Epilogue::Store<1>(args, raw, i0, i1);
  }
}

}  // namespace aicf
