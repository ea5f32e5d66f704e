// The shape of a convolution as a Hopper product (conv/hopper.cuh): the window's taps, a tile of
// output positions, and which block takes which tile.
#pragma once

#include "common/hopper_stage.cuh"

namespace aicf {

constexpr int kAxisW = Out0::kRank - 1;
constexpr int kAxisH = kAxisW - 1;  ///< where there are two spatial axes
constexpr bool kHasH = Out0::kRank == 4;
static_assert(Out0::kRank == 3 || kHasH, "one spatial axis or two");
static_assert(!kRowsInner, "the output's channels are innermost");

constexpr index_t kChannels = In0::extent(1);
constexpr index_t kOutputChannels = Out0::extent(1);
static_assert(kChannels > 0, "something is summed");

/// One spatial axis: its output positions, and what the window does along it.
struct Axis {
  int positions, taps, stride, dilation, pad;
};
AICF_DEVICE constexpr Axis AxisAt(int d) {
  return {static_cast<int>(Out0::extent(d + 2)), static_cast<int>(In1::extent(d + 2)),
          static_cast<int>(attr_strides(d)), static_cast<int>(attr_dilations(d)),
          static_cast<int>(attr_pads_begin(d))};
}
// With kFlat all positions of all images form one axis, and the window is a single tap that never
// lies outside the input.
constexpr Axis kOneTap = {1, 1, 1, 1, 0};
constexpr Axis kW = kFlat ? Axis{static_cast<int>(kOutputCount1), 1, 1, 1, 0} : AxisAt(kAxisW - 2);
constexpr Axis kH = kHasH && !kFlat ? AxisAt(0) : kOneTap;
constexpr int kImages = kFlat ? 1 : static_cast<int>(Out0::extent(0));

/// Positions that a tile fetches. The other rows of its kTileM hold arbitrary data and are not
/// stored.
constexpr int kPositions = kTileW * kTileH * kTileB;
static_assert(kPositions <= kTileM, "a tile's positions are its rows");
constexpr int kFetchedBytes = kPositions * kRowBytes + kStageBytesB;

/// k runs over the taps and, in parts of kTileK, over the channels of each.
constexpr int kChannelParts = static_cast<int>(TilesIn(kChannels, kTileK));
constexpr index_t kSteps = index_t(kH.taps) * kW.taps * kChannelParts;

typedef StageOperand<true> TileA;
/// Weights with their input channels innermost lie along k; with their output channels innermost
/// they lie across it. LiesAlongK in conv/hopper_maps.cc, which makes the map, must decide the
/// same.
struct TileB : StageOperand<In1::stride(1) == 1 && (In1::extent(1) > 1)> {
  AICF_DEVICE static void Fetch(const void* map, unsigned tile, unsigned barrier, int channel,
                                int tap_w, int tap_h, int output) {
    if constexpr (kAlongK) {
      CopyBox(tile, map, barrier, channel, tap_w, tap_h, output);
    } else {
      static_assert(kAlongK || kTileN % kLine == 0, "panels of one line");
#pragma unroll
      for (int i = 0; i < kTileN / kLine; ++i) {
        CopyBox(tile + i * kTileK * kLineBytes, map, barrier, output + i * kLine, channel, tap_w,
                tap_h);
      }
    }
  }
};

/// One step along k: part `part` of the channels (kTileK of them) at tap (w, h) of the window.
struct Tap {
  int part, w, h;

  AICF_DEVICE explicit Tap(index_t step) {
    part = static_cast<int>(step % kChannelParts);
    const int tap = static_cast<int>(step / kChannelParts);
    w = tap % kW.taps;
    h = tap / kW.taps;
  }
  AICF_DEVICE void Next() {
    if (++part < kChannelParts) return;
    part = 0;
    if (++w < kW.taps) return;
    w = 0;
    ++h;
  }
};

/// The tiles of this block, or of its cluster, one after the other. Tiles of the same positions and
/// of all output channels follow each other, so that their inputs are still in the L2 cache.
struct TileWalk {
  static constexpr index_t kTilesN = TilesIn(kOutputChannels, kTileN);
  static constexpr index_t kTilesW = TilesIn(kW.positions, kTileW);
  static constexpr index_t kTilesH = TilesIn(kH.positions, kTileH);
  static constexpr index_t kTiles = kTilesN * kTilesW * kTilesH * TilesIn(kImages, kTileB);
  static constexpr index_t kWalkers = kGridX / kClusterX;
  static constexpr bool kOne = kTiles <= kWalkers;  ///< no block has more than one tile
  /// Whether tiles cover the output exactly, so that every sum of a tile belongs to a result.
  static constexpr bool kWhole = kPositions == kTileM && kOutputChannels % kTileN == 0 &&
                                 kW.positions % kTileW == 0 && kH.positions % kTileH == 0 &&
                                 kImages % kTileB == 0;

  static constexpr index_t batch = 0;

  index_t tile;
  int column0, w0, h0, b0;

  AICF_DEVICE TileWalk() {
    tile = static_cast<index_t>(blockIdx.x) / kClusterX;
    Place();
  }
  /// Makes the compiler compute the tile's indices before this point, so that they are ready when a
  /// wait that follows ends.
  AICF_DEVICE void Hold() {
    HoldIndex(column0);
    HoldIndex(w0);
    HoldIndex(h0);
    HoldIndex(b0);
  }
  AICF_DEVICE bool Valid() const { return tile < kTiles; }
  AICF_DEVICE bool HasNext() const { return tile + kWalkers < kTiles; }
  AICF_DEVICE void Next() {
    tile += kWalkers;
    Place();
  }
  AICF_DEVICE void Place() {
    column0 = static_cast<int>(tile % kTilesN) * kTileN;
    index_t rest = tile / kTilesN;
    w0 = static_cast<int>(rest % kTilesW) * kTileW;
    rest /= kTilesW;
    h0 = static_cast<int>(rest % kTilesH) * kTileH;
    b0 = static_cast<int>(rest / kTilesH) * kTileB;
  }
  /// The tile's first row and column in the tensor cores' directions. Output channels are counted
  /// in the output, positions within the tile.
  AICF_DEVICE index_t FirstRow() const { return kSwap ? column0 : 0; }
  AICF_DEVICE index_t FirstColumn() const { return kSwap ? 0 : column0; }
  /// False only if the tile has no position in the output at or after its position `row`.
  AICF_DEVICE bool MayHaveLines(index_t row) const {
    return row < kPositions && (!kFlat || w0 + row < kOutputCount1);
  }
  /// Index in the output of the tile's position `row`, -1 where there is none.
  AICF_DEVICE index_t LineOf(index_t row) const {
    if constexpr (kFlat) {
      const index_t at = w0 + row;
      return kWhole || (row < kPositions && at < kOutputCount1) ? at : -1;
    }
    const int w = w0 + static_cast<int>(row % kTileW);
    const int h = h0 + static_cast<int>(row / kTileW % kTileH);
    const int b = b0 + static_cast<int>(row / (kTileW * kTileH));
    const bool outside =
        row >= kPositions || w >= kW.positions || h >= kH.positions || b >= kImages;
    if (!kWhole && outside) return -1;
    return w * OutputWeight(kAxisW) + (kHasH ? h * OutputWeight(kAxisH) : 0) + b * OutputWeight(0);
  }
};

}  // namespace aicf
