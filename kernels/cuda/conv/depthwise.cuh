// cuda.conv.depthwise: one input channel per output channel, channels last. A thread computes
// kPiece neighbouring channels of kPixels neighbouring positions of the last spatial axis, so that
// it loads a weight once for kPixels positions, and an input once for all taps of a row that read
// it. Weights may have any layout: constants are stored with their channels innermost, computed
// ones as their step left them.
#pragma once

namespace aicf {

constexpr int kSpatial = Out0::kRank - 2;
constexpr int kLast = kSpatial + 1;  ///< axis number of the last spatial axis
constexpr index_t kChannels = Out0::extent(1);
constexpr index_t kStride = static_cast<index_t>(attr_strides(kSpatial - 1));
constexpr index_t kDilation = static_cast<index_t>(attr_dilations(kSpatial - 1));
constexpr int kTaps = static_cast<int>(In1::extent(kLast));
constexpr int kSpan =
    (kPixels - 1) * static_cast<int>(kStride) + (kTaps - 1) * static_cast<int>(kDilation) + 1;
constexpr index_t kPixelGroups = (Out0::extent(kLast) + kPixels - 1) / kPixels;
static_assert(kChannels % kPiece == 0, "channels come in whole pieces");

/// kPiece neighbouring channels of an operand, the first at p. kAxis is the operand's axis of
/// channels: they are loaded in vectors where the view's run along it allows, else one by one.
template <class X, int kAxis>
AICF_DEVICE void LoadChannels(const typename X::S* p, float (&dst)[kPiece]) {
  typedef typename X::S S;
  constexpr int N = PieceOf<S>(kPiece, X::run(kAxis));
#pragma unroll
  for (int j = 0; j < kPiece; j += N) {
    const S* from = p + j * X::stride(kAxis);
    const Pack<S, N> pack = *reinterpret_cast<const Pack<S, N>*>(from);
#pragma unroll
    for (int i = 0; i < N; ++i) dst[j + i] = Widen(pack.v[i]);
  }
}

/// Adds one row of taps along the last axis. x is the start of the input's row, `first` the
/// position in it that tap 0 of pixel 0 reads, which may be outside, and w the weight of tap 0.
AICF_DEVICE void AddRow(const In0::S* x, index_t first, const In1::S* w,
                        float (&sum)[kPixels][kPiece]) {
  float row[kSpan][kPiece];
#pragma unroll
  for (int s = 0; s < kSpan; ++s) {
#pragma unroll
    for (int j = 0; j < kPiece; ++j) row[s][j] = 0.0f;
    const index_t at = first + s;
    if (at >= 0 && at < In0::extent(kLast)) {
      LoadChannels<In0, 1>(x + at * In0::stride(kLast), row[s]);
    }
  }
#pragma unroll
  for (int t = 0; t < kTaps; ++t) {
    float weight[kPiece];
    LoadChannels<In1, 0>(w + t * In1::stride(kLast), weight);
#pragma unroll
    for (int p = 0; p < kPixels; ++p) {
      const int s = p * static_cast<int>(kStride) + t * static_cast<int>(kDilation);
#pragma unroll
      for (int j = 0; j < kPiece; ++j) sum[p][j] = fmaf(row[s][j], weight[j], sum[p][j]);
    }
  }
}

/// Walks the taps of spatial axis D and those inside it.
template <int D>
AICF_DEVICE void AddTaps(const index_t (&start)[kSpatial], const In0::S* x, const In1::S* w,
                         float (&sum)[kPixels][kPiece]) {
  if constexpr (D == kSpatial - 1) {
    AddRow(x, start[D], w, sum);
  } else {
#pragma unroll
    for (index_t t = 0; t < In1::extent(D + 2); ++t) {
      const index_t at = start[D] + t * static_cast<index_t>(attr_dilations(D));
      if (at < 0 || at >= In0::extent(D + 2)) continue;
      AddTaps<D + 1>(start, x + at * In0::stride(D + 2), w + t * In1::stride(D + 2), sum);
    }
  }
}

AICF_DEVICE void Kernel(const Args& args) {
  constexpr index_t kPieces = kChannels / kPiece;
  constexpr index_t kLines =
      kOutputCount1 / Out0::extent(kLast);  ///< images and outer spatial axes
  for (index_t i = static_cast<index_t>(blockIdx.x) * kBlockX + threadIdx.x;
       i < kPieces * kPixelGroups * kLines; i += kGridX * kBlockX) {
    const index_t channel = i % kPieces * kPiece;
    const index_t pixel = i / kPieces % kPixelGroups * kPixels;
    const index_t position = i / (kPieces * kPixelGroups) * Out0::extent(kLast) + pixel;
    const Point point = OutputPoint(channel, position);
    index_t start[kSpatial];
#pragma unroll
    for (int d = 0; d < kSpatial; ++d) {
      start[d] = point.c[d + 2] * static_cast<index_t>(attr_strides(d)) -
                 static_cast<index_t>(attr_pads_begin(d));
    }
    float sum[kPixels][kPiece] = {};
    AddTaps<0>(start,
               static_cast<const In0::S*>(args.in[0]) + In0::kOffset + point.c[0] * In0::stride(0) +
                   channel * In0::stride(1),
               static_cast<const In1::S*>(args.in[1]) + In1::kOffset + channel * In1::stride(0),
               sum);
#pragma unroll
    for (int p = 0; p < kPixels; ++p) {
      if (pixel + p < Out0::extent(kLast)) {
        Epilogue::Store<kPiece>(args, sum[p], channel, position + p);
      }
    }
  }
}

}  // namespace aicf
