// Convolution as a product without an unfolded input: rows are output positions (image and pixel),
// columns the output channels of one group, k runs over taps and then input channels. One tile of
// kTileM x kTileN per block. Follows tile_ffma.cuh or
// tile_mma.cuh.
#pragma once

#include "common/tile.cuh"

namespace aicf {

constexpr int kSpatial = Out0::kRank - 2;
constexpr index_t kGroups = static_cast<index_t>(attr_group);
constexpr index_t kChannels = In1::extent(1);              ///< input channels of a group
constexpr index_t kColumns = Out0::extent(1) / kGroups;    ///< output channels of a group
AICF_DEVICE constexpr index_t Count(bool taps) {
  index_t count = taps ? 1 : Out0::extent(0);
  for (int d = 0; d < kSpatial; ++d) count *= taps ? In1::extent(d + 2) : Out0::extent(d + 2);
  return count;
}
constexpr index_t kRows = Count(false);
constexpr index_t kLength = Count(true) * kChannels;
AICF_DEVICE constexpr bool Padded() {
  for (int d = 0; d < kSpatial; ++d) {
    if (attr_pads_begin(d) != 0 || attr_pads_end(d) != 0) return true;
  }
  return false;
}
constexpr bool kPadded = Padded();

/// Channel and offsets of the taps of reduction index k.
struct Tap {
  index_t channel;
  index_t at[kSpatial];
};
AICF_DEVICE Tap TapOf(index_t k) {
  Tap tap;
  constexpr index_t kDivisor = kChannels > 0 ? kChannels : 1;
  tap.channel = k % kDivisor;
  index_t rest = k / kDivisor;
#pragma unroll
  for (int d = kSpatial - 1; d >= 0; --d) {
    tap.at[d] = rest % In1::extent(d + 2);
    rest /= In1::extent(d + 2);
  }
  return tap;
}

struct InputSource {
  typedef In0::S S;
  struct Static { const S* window; index_t start[kSpatial]; bool valid; };
  struct Dynamic { index_t offset; index_t step[kSpatial]; bool valid; };
  const S* base;

  AICF_DEVICE InputSource(const void* data, index_t group) {
    base = static_cast<const S*>(data) + In0::kOffset + group * kChannels * In0::stride(1);
  }
  AICF_DEVICE Static MakeStatic(index_t row) const {
    Static fixed;
    fixed.valid = row < kRows;
    const index_t inside = fixed.valid ? row : 0;
    const Point point = kRowsInner ? OutputPoint(inside, 0) : OutputPoint(0, inside);
    fixed.window = base + point.c[0] * In0::stride(0);
#pragma unroll
    for (int d = 0; d < kSpatial; ++d) {
      fixed.start[d] = point.c[d + 2] * static_cast<index_t>(attr_strides(d)) -
                       static_cast<index_t>(attr_pads_begin(d));
      fixed.window += fixed.start[d] * In0::stride(d + 2);
    }
    return fixed;
  }
  AICF_DEVICE Dynamic MakeDynamic(index_t k) const {
    const Tap tap = TapOf(k);
    Dynamic moving;
    moving.valid = k < kLength;
    moving.offset = tap.channel * In0::stride(1);
#pragma unroll
    for (int d = 0; d < kSpatial; ++d) {
      moving.step[d] = tap.at[d] * static_cast<index_t>(attr_dilations(d));
      moving.offset += moving.step[d] * In0::stride(d + 2);
    }
    return moving;
  }
  AICF_DEVICE const S* At(const Static& fixed, const Dynamic& moving, bool* valid) const {
    *valid = fixed.valid && moving.valid;
    if constexpr (kPadded) {
#pragma unroll
      for (int d = 0; d < kSpatial; ++d) {
        const index_t at = fixed.start[d] + moving.step[d];
        *valid = *valid && at >= 0 && at < In0::extent(d + 2);
      }
    }
    return fixed.window + moving.offset;
  }
};

struct WeightSource {
  typedef In1::S S;
  struct Static { const S* column; bool valid; };
  struct Dynamic { index_t offset; bool valid; };
  const S* base;

  AICF_DEVICE WeightSource(const void* data, index_t group) {
    base = static_cast<const S*>(data) + In1::kOffset + group * kColumns * In1::stride(0);
  }
  AICF_DEVICE Static MakeStatic(index_t column) const {
    return {base + column * In1::stride(0), column < kColumns};
  }
  AICF_DEVICE Dynamic MakeDynamic(index_t k) const {
    const Tap tap = TapOf(k);
    index_t offset = tap.channel * In1::stride(1);
#pragma unroll
    for (int d = 0; d < kSpatial; ++d) offset += tap.at[d] * In1::stride(d + 2);
    return {offset, k < kLength};
  }
  AICF_DEVICE const S* At(const Static& fixed, const Dynamic& moving, bool* valid) const {
    *valid = fixed.valid && moving.valid;
    return fixed.column + moving.offset;
  }
};

/// Elements per access: pieces never straddle a tap, a group or the end.
template <class View>
AICF_DEVICE constexpr int PieceAlong(int d, index_t extent) {
  int v = PieceOf<typename View::S>(16, View::run(d));
  while (v > 1 && extent % v != 0) v /= 2;
  return v;
}
/// The input is read along the channels where they are contiguous, else along the positions; the weights
/// along the output channels, else along k.
constexpr bool kAlongA = In0::stride(1) == 1 && In0::extent(1) > 1;
constexpr bool kAlongB = In1::stride(0) == 1 || In1::stride(1) != 1;
typedef TileLoader<InputSource, tile_t, kBlockX, kTileM, kTileK, kPitchA, true, kAlongA,
                   kAlongA ? MinOf(PieceAlong<In0>(1, kChannels), kTileK) : 1>
    LoadTileA;
typedef TileLoader<WeightSource, tile_t, kBlockX, kTileK, kTileN, kPitchB, false, kAlongB,
                   kAlongB ? MinOf(PieceAlong<In1>(0, kColumns), kTileN)
                           : 1>
    LoadTileB;

AICF_DEVICE void Kernel(const Args& args) {
  constexpr index_t kTilesN = TilesIn(kColumns, kTileN);
  constexpr index_t kTilesM = TilesIn(kRows, kTileM);
  const index_t tile = TileOfBlock();
  if (tile >= kTilesN * kTilesM * kGroups) return;
  const index_t column0 = tile % kTilesN * kTileN;
  const index_t row0 = tile / kTilesN % kTilesM * kTileM;
  const index_t group = tile / (kTilesN * kTilesM);
  TileSums sums;
  ComputeTile<LoadTileA, LoadTileB>(InputSource(args.in[0], group), WeightSource(args.in[1], group),
                                    row0, column0, kLength, sums);
  StoreTile(args, sums, row0, group * kColumns + column0, kRows, (group + 1) * kColumns, 0);
}

}  // namespace aicf
