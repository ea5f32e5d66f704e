#include "kernels/cpu/gemm/depthwise.h"

#include <utility>

AICF_ISA_BEGIN
namespace {

template <bool kWhole>
AICF_INLINE Vec LoadX(const TileCall& call, const float* x) {
  return kWhole ? Load(x) : LoadMasked(x, call.last_x);
}

template <int kRows>
AICF_INLINE void StartRows(const TileCall& call, Vec (&acc)[kRows][1]) {
  const Vec start = Load(call.start);
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) acc[r][0] = start;
}

template <int kRows, bool kGathered, bool kWhole>
void RunSpread(const TileCall& call) {
  Vec acc[kRows][1];
  StartRows(call, acc);
  for (int64_t tap = 0; tap < call.tap_count; ++tap) {
    TileRowsAt<kRows, 1, kGathered> rows(call, tap);
    const Vec weight = Load(call.taps[tap].b);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      acc[r][0] = Fma(weight, LoadX<kWhole>(call, rows.Address(r)), acc[r][0]);
    }
  }
  FinishAccumulators<kRows, 1>(call, acc);
}

template <int kRows, int kWidth, int kStride, bool kWhole>
void RunWindow(const TileCall& call) {
  Vec acc[kRows][1];
  StartRows(call, acc);
  for (int64_t tap = 0; tap < call.tap_count; ++tap) {
    const float* x = call.x + call.taps[tap].x;
    Vec weight[kWidth];
#pragma GCC unroll 8
    for (int i = 0; i < kWidth; ++i) weight[i] = Load(call.taps[tap].b + i * kLanes);
    constexpr int kPositions = (kRows - 1) * kStride + kWidth;
#pragma GCC unroll 40
    for (int p = 0; p < kPositions; ++p, x += call.x_stride) {
      const Vec v = LoadX<kWhole>(call, x);
#pragma GCC unroll 8
      for (int i = 0; i < kWidth; ++i) {
        const int r = (p - i) / kStride;
        if (p >= i && (p - i) % kStride == 0 && r < kRows) acc[r][0] = Fma(weight[i], v, acc[r][0]);
      }
    }
  }
  FinishAccumulators<kRows, 1>(call, acc);
}

using RowSequence = std::make_integer_sequence<int, kDepthwiseRows>;

template <bool kGathered, bool kWhole, int... kRow>
TileFn PickSpread(int rows, std::integer_sequence<int, kRow...>) {
  static constexpr TileFn kTiles[] = {&RunSpread<kRow + 1, kGathered, kWhole>...};
  return kTiles[rows - 1];
}

template <int kWidth, int kStride, bool kWhole, int... kRow>
TileFn PickWindow(int rows, std::integer_sequence<int, kRow...>) {
  static constexpr TileFn kTiles[] = {&RunWindow<kRow + 1, kWidth, kStride, kWhole>...};
  return kTiles[rows - 1];
}

template <int kWidth, int kStride>
TileFn PickWhole(const DepthwiseTile& tile) {
  return tile.whole ? PickWindow<kWidth, kStride, true>(tile.rows, RowSequence())
                    : PickWindow<kWidth, kStride, false>(tile.rows, RowSequence());
}

}  // namespace

bool HasDepthwiseWindow(int64_t width, int64_t stride) {
  return (width == 3 || width == 5) && (stride == 1 || stride == 2);
}

TileFn FindDepthwiseTile(const DepthwiseTile& tile) {
  switch (tile.reads) {
    case DepthwiseReads::kGathered:
      return PickSpread<true, false>(tile.rows, RowSequence());
    case DepthwiseReads::kSpread:
      return tile.whole ? PickSpread<false, true>(tile.rows, RowSequence())
                        : PickSpread<false, false>(tile.rows, RowSequence());
    case DepthwiseReads::kWindow:
      break;
  }
  if (tile.width == 3) return tile.stride == 1 ? PickWhole<3, 1>(tile) : PickWhole<3, 2>(tile);
  return tile.stride == 1 ? PickWhole<5, 1>(tile) : PickWhole<5, 2>(tile);
}

AICF_ISA_END
