// Convolution as a product without an unfolded input: rows are output positions (image and pixel),
// columns the output channels of one group, k runs over the taps and, for each tap, over the input
// channels. One tile of kTileM x kTileN per block. To be included after tile_ffma.cuh or
// tile_mma.cuh.
//
// A transposed convolution of stride s is s convolutions of stride 1 along each axis: all output
// positions with the same remainder modulo s, a phase, use the same taps. Every phase has blocks of
// its own.
#pragma once

#include "common/tile.cuh"
#include "conv/phase.cuh"

namespace aicf {

/// The input channel and the tap, counted within the phase, that index k of the sum stands for.
struct Tap {
  index_t channel;
  index_t at[kSpatial];
};
AICF_DEVICE Tap TapOf(index_t k) {
  constexpr index_t kDivisor = kChannels > 0 ? kChannels : 1;
  Tap tap;
  tap.channel = k % kDivisor;
  index_t rest = k / kDivisor;
#pragma unroll
  for (int d = kSpatial - 1; d >= 0; --d) {
    tap.at[d] = rest % PhaseTaps(d);
    rest /= PhaseTaps(d);
  }
  return tap;
}

struct InputSource {
  typedef In0::S S;
  struct Static {
    const S* window;
    index_t start[kSpatial];
    bool valid;
  };
  struct Dynamic {
    index_t offset;
    index_t step[kSpatial];
    bool valid;
  };
  const S* base;
  const Phase& phase;

  AICF_DEVICE InputSource(const void* data, index_t group, const Phase& own) : phase(own) {
    base = static_cast<const S*>(data) + In0::kOffset + group * kChannels * In0::stride(1);
  }
  AICF_DEVICE Static MakeStatic(index_t row) const {
    Static fixed;
    fixed.valid = row < kRows;
    const Point point = PointOfRow(fixed.valid ? row : 0);
    fixed.window = base + point.c[0] * In0::stride(0);
#pragma unroll
    for (int d = 0; d < kSpatial; ++d) {
      fixed.start[d] = point.c[d + 2] * (kTransposed ? 1 : Stride(d)) + phase.base[d];
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
      moving.step[d] = kTransposed ? -tap.at[d] * Dilation(d) : tap.at[d] * Dilation(d);
      moving.offset += moving.step[d] * In0::stride(d + 2);
    }
    return moving;
  }
  AICF_DEVICE const S* At(const Static& fixed, const Dynamic& moving, bool* valid) const {
    *valid = fixed.valid && moving.valid;
    if constexpr (kTransposed || kPadded) {
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
  struct Static {
    const S* column;
    bool valid;
  };
  struct Dynamic {
    index_t offset;
    bool valid;
  };
  const S* base;
  const Phase& phase;

  AICF_DEVICE WeightSource(const void* data, index_t group, const Phase& own) : phase(own) {
    base = static_cast<const S*>(data) + In1::kOffset +
           group * (kTransposed ? kChannels : kColumns) * In1::stride(0);
  }
  AICF_DEVICE Static MakeStatic(index_t column) const {
    return {base + column * In1::stride(kWeightColumn), column < kColumns};
  }
  AICF_DEVICE Dynamic MakeDynamic(index_t k) const {
    const Tap tap = TapOf(k);
    Dynamic moving = {tap.channel * In1::stride(kWeightChannel), k < kLength};
#pragma unroll
    for (int d = 0; d < kSpatial; ++d) {
      const index_t at = kTransposed ? phase.first[d] + tap.at[d] * Stride(d) : tap.at[d];
      moving.offset += at * In1::stride(d + 2);
      if constexpr (kTransposed) moving.valid = moving.valid && at < In1::extent(d + 2);
    }
    return moving;
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
/// The input is read along the channels where they are contiguous, else along the positions; the
/// weights along the output channels, else along k.
constexpr bool kAlongA = In0::stride(1) == 1 && In0::extent(1) > 1;
constexpr bool kAlongB = In1::stride(kWeightColumn) == 1 || In1::stride(kWeightChannel) != 1;
typedef TileLoader<InputSource, tile_t, kBlockX, kTileM, kTileK, kPitchA, true, kAlongA,
                   kAlongA ? MinOf(PieceAlong<In0>(1, kChannels), kTileK) : 1>
    LoadTileA;
typedef TileLoader<WeightSource, tile_t, kBlockX, kTileK, kTileN, kPitchB, false, kAlongB,
                   kAlongB ? MinOf(PieceAlong<In1>(kWeightColumn, kColumns), kTileN) : 1>
    LoadTileB;

/// Index of a row's results among the output's positions; -1 where the output has no such position.
struct PlaceOfRow {
  static constexpr bool kIdentity = !kTransposed;
  const Phase& phase;

  AICF_DEVICE index_t operator()(index_t row) const {
    if constexpr (kIdentity) return row;
    const Point point = PointOfRow(row);
    index_t place = point.c[0] * OutputWeight(0);
    bool inside = true;
#pragma unroll
    for (int d = 0; d < kSpatial; ++d) {
      const index_t at = point.c[d + 2] * Stride(d) + phase.residue[d];
      inside = inside && at < Out0::extent(d + 2);
      place += at * OutputWeight(d + 2);
    }
    return inside ? place : -1;
  }
};

AICF_DEVICE void Kernel(const Args& args) {
  constexpr index_t kTilesN = TilesIn(kColumns, kTileN);
  constexpr index_t kTilesM = TilesIn(kRows, kTileM);
  index_t rest = TileOfBlock();
  const index_t column0 = rest % kTilesN * kTileN;
  rest /= kTilesN;
  const index_t row0 = rest % kTilesM * kTileM;
  rest /= kTilesM;
  const Phase phase = PhaseOf(rest % kPhases);
  const index_t group = rest / kPhases;
  if (group >= kGroups) return;
  TileSums sums;
  ComputeTile<LoadTileA, LoadTileB>(InputSource(args.in[0], group, phase),
                                    WeightSource(args.in[1], group, phase), row0, column0, kLength,
                                    sums);
  StoreTile(args, sums, PlaceOfRow{phase}, row0, group * kColumns + column0, kRows,
            (group + 1) * kColumns, 0);
}

}  // namespace aicf
