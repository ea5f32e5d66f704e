// cuda.conv.hopper: a convolution as a product on Hopper's own instructions, without an unfolded
// input. Rows are output positions, columns output channels, k runs over the taps of the window and
// the input channels. For one tap the inputs of a tile of neighbouring positions are a box of the
// input. The copy engine fetches that box as it is and fills in zeros where it lies outside of the
// tensor, which is what padding means. The product itself is common/hopper_product.cuh.
//
// The instance defines, beside what compiler/codegen/cuda_source.h lists,
//   kTileM, kTileN, kTileK  the block's tile; kTileK is 32, 64 or 128 bytes of channels
//   kTileW, kTileH, kTileB  its box of positions: along the last axis, the one before it (1 where
//                           there is none) and the images; together at most kTileM
//   kFlat                   1: all positions of all images are taken as one axis (kTileH and kTileB
//                           are 1). The window then has one tap with stride 1 and no padding, and
//                           one stride walks the input in the order of the output's positions
//   kHeldB                  0: stages have weights, too. Otherwise the number of all tiles of
//                           weights, which a block holds for all its tiles of the output: for each
//                           tile of columns those of all steps of k
//   kStages, kAhead, kConsumers, kSwap, kPingPong, kSplit, kPromote   as in gemm/hopper.cuh
//
// Tensor maps, of rank 4, with zeros outside. The swizzle is that of a line's bytes: kTileK
// channels or, for weights across k, 128 bytes.
//   input     extents {channels, w, h, images}, box {kTileK, kTileW, kTileH, kTileB} where the
//             spatial axes take every stride-th element
//   weights   along k, input channels contiguous: extents {in, taps w, taps h, out}, box
//             {kTileK, 1, 1, kTileN}; across k, output channels contiguous: extents {out, in,
//             taps w, taps h}, box {64, kTileK, 1, 1}
// What is illegal is in conv/hopper.cc.
#pragma once

#include "conv/hopper_tile.cuh"

namespace aicf {
typedef NoScales StageScales;
typedef NoMoments Moments;
typedef NoParts Parts;
}  // namespace aicf

// The header below is written in terms of the types above.
#include "common/hopper_product.cuh"

namespace aicf {

/// The input's box and the tile of weights that the producer requests for one step of k, a part of
/// one tap's channels; Next() moves to the next step.
struct Fetch {
  static constexpr int kBytes = kFetchedBytes;

  const void *map_a, *map_b;
  int w0, h0, b0, column;
  Tap tap;

  AICF_DEVICE Fetch(const Args& args, const TileWalk& walk, index_t step)
      : map_a(args.map[0]),
        map_b(args.map[1]),
        w0(walk.w0 * kW.stride - kW.pad),
        h0(walk.h0 * kH.stride - kH.pad),
        b0(walk.b0),
        column(walk.column0),
        tap(step) {}
  /// The tiles of weights of all columns, of each all steps of k.
  AICF_DEVICE static void Held(const Args& args, const SharedLayout& shared) {
    static_assert(!kHoldsB || kHeldB == TileWalk::kTilesN * kSteps, "all weights are held");
    int i = 0;
#pragma unroll 1
    for (int column = 0; column < static_cast<int>(TileWalk::kTilesN); ++column) {
      Tap tap(0);
#pragma unroll 1
      for (int step = 0; step < static_cast<int>(kSteps); ++step, ++i, tap.Next()) {
        TileB::Fetch(args.map[1], shared.Held(i), shared.HeldBarrier(), tap.part * kTileK, tap.w,
                     tap.h, column * kTileN);
      }
    }
  }
  AICF_DEVICE void Next() { tap.Next(); }
  AICF_DEVICE void A(unsigned to, unsigned barrier) const {
    CopyBox(to, map_a, barrier, tap.part * kTileK, w0 + tap.w * kW.dilation,
            h0 + tap.h * kH.dilation, b0);
  }
  AICF_DEVICE void B(unsigned to, unsigned barrier) const {
    TileB::Fetch(map_b, to, barrier, tap.part * kTileK, tap.w, tap.h, column);
  }
};

AICF_DEVICE void Kernel(const Args& args) { RunProduct<Fetch>(args); }

/// Blocks that a multiprocessor is to hold at a time: one or, with a single consumer, as many as
/// shared memory has room for (each block costs 1 KB more than its own), 3 at most, or 4 where
/// operands have 8 bits and a thread has 32 sums. A thread's registers are limited so that they
/// fit. ResidentBlocks in conv/hopper_choice.cc relies on it.
constexpr bool kFewRegisters = sizeof(tile_t) == 1 && kTileM * kTileN <= 64 * 64;
constexpr int kMostResident = kConsumers != 1 ? 1 : kFewRegisters ? 4 : 3;
constexpr int kResidentBlocks =
    MaxOf(1, MinOf(228 * 1024 / (kDynamicShared + 1024), kMostResident));
#define AICF_MIN_BLOCKS aicf::kResidentBlocks

}  // namespace aicf
