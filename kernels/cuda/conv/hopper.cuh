// cuda.conv.hopper: a convolution as a product on Hopper's own instructions, without an unfolded
// input. Rows are output positions, columns output channels, k runs over the taps of the window and
// the input channels. For one tap the inputs of a tile of neighbouring positions are a box of the
// input, which the copy engine fetches as it is, with zeros where it leaves the tensor: the
// padding. The product itself is common/hopper_product.cuh.
//
// The instance defines, beside what compiler/codegen/cuda_source.h lists,
//   kTileM, kTileN, kTileK  the block's tile; kTileK is 32, 64 or 128 bytes of channels
//   kTileW, kTileH, kTileB  its box of positions: along the last axis, the one before it (1 where
//                           there is none) and the images; together at most kTileM
//   kFlat                   all positions of all images are one axis (kTileH and kTileB are 1): a
//                           window of one tap with stride 1 and no padding, whose input one stride
//                           walks in the order of the output's positions
//   kStages, kConsumers, kSwap, kPingPong, kSplit, kPromote   as in gemm/hopper.cuh
//
// Tensor maps, of rank 4, swizzled by lines of kTileK channels (weights across k: of 128 bytes),
// with zeros outside:
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
}

// What follows is made of the tile.
#include "common/hopper_product.cuh"

namespace aicf {

/// The producer, one thread: all stages of all the block's tiles.
AICF_DEVICE void Produce(const Args& args, const SharedLayout& shared) {
  const StepRange share;
  index_t ahead = StagesAhead(share);
  RingPlace place;
  for (TileWalk walk; walk.Valid(); walk.Next()) {
    const int w0 = walk.w0 * kW.stride - kW.pad, h0 = walk.h0 * kH.stride - kH.pad;
    Tap tap(share.first);
#pragma unroll 1
    for (index_t step = share.first; step < share.end; ++step, place.Next(), tap.Next()) {
      const unsigned full = shared.Full(place.stage);
      const int channel = tap.part * kTileK;
      const bool asked = ahead > 0;
      if (asked) {
        --ahead;
      } else {
        BarrierWait(shared.Empty(place.stage), place.parity ^ 1);
        BarrierArriveExpect(full, kFetchedBytes);
      }
      CopyBox(shared.A(place.stage), args.map[0], full, channel, w0 + tap.w * kW.dilation,
              h0 + tap.h * kH.dilation, walk.b0);
      if (asked) continue;
      TileB::Fetch(args.map[1], shared.B(place.stage), full, channel, tap.w, tap.h, walk.column0);
    }
  }
}

/// The same thread, before the wait: the weights of the first stages.
AICF_DEVICE void ProduceAhead(const Args& args) {
  if constexpr (kAhead != 0) {
    const SharedLayout shared;
    const TileWalk walk;
    const StepRange share;
    const index_t ahead = walk.Valid() ? StagesAhead(share) : 0;
    Tap tap(share.first);
#pragma unroll 1
    for (int stage = 0; stage < ahead; ++stage, tap.Next()) {
      const unsigned full = shared.Full(stage);
      BarrierArriveExpect(full, kFetchedBytes);
      TileB::Fetch(args.map[1], shared.B(stage), full, tap.part * kTileK, tap.w, tap.h,
                   walk.column0);
    }
  }
}

AICF_DEVICE void Kernel(const Args& args) { RunProduct(args, Produce, ProduceAhead); }

/// Blocks that a multiprocessor is to hold at a time: registers are kept for as many, where shared
/// memory (of which each block costs 1 KB more) has room for them. ResidentBlocks in
/// conv/hopper_choice.cc counts on them.
constexpr int kResidentBlocks =
    kConsumers == 1 ? MaxOf(1, MinOf(228 * 1024 / (kDynamicShared + 1024), 3)) : 1;
#define AICF_MIN_BLOCKS aicf::kResidentBlocks

}  // namespace aicf
