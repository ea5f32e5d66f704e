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
//   kStages, kConsumers, kSwap, kPingPong   as in gemm/hopper.cuh
//   kClusterX               blocks that share out k of one tile, each with one tile alone: they add
//                           their sums in the order of the blocks (common/hopper_split.cuh)
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

constexpr bool kSharesLength = kClusterX > 1;
constexpr index_t kSteps = kAllSteps;  ///< of a block that takes all of k
constexpr int kWriters = 1;
constexpr int kStoreBytes = kSharesLength ? 0 : kConsumers * 4 * kWarpStoreBytes;

}  // namespace aicf

#include "common/hopper_split.cuh"

namespace aicf {

/// The steps of this block's part of k: every part has one step or more.
struct Share {
  index_t first, end;

  AICF_DEVICE Share() {
    const index_t rank = static_cast<index_t>(blockIdx.x) % kClusterX;
    first = rank * kAllSteps / kClusterX;
    end = (rank + 1) * kAllSteps / kClusterX;
  }
};

/// The producer, one thread: all stages of all the block's tiles.
AICF_DEVICE void Produce(const Args& args, const SharedLayout& shared) {
  const Share share;
  RingPlace place;
  for (TileWalk walk; walk.Valid(); walk.Next()) {
    const int w0 = walk.w0 * kW.stride - kW.pad, h0 = walk.h0 * kH.stride - kH.pad;
    Tap tap(share.first);
#pragma unroll 1
    for (index_t step = share.first; step < share.end; ++step, place.Next(), tap.Next()) {
      const unsigned full = shared.Full(place.stage);
      const int channel = tap.part * kTileK;
      BarrierWait(shared.Empty(place.stage), place.parity ^ 1);
      BarrierArriveExpect(full, kFetchedBytes);
      CopyBox(shared.A(place.stage), args.map[0], full, channel, w0 + tap.w * kW.dilation,
              h0 + tap.h * kH.dilation, walk.b0);
      TileB::Fetch(args.map[1], shared.B(place.stage), full, channel, tap.w, tap.h, walk.column0);
    }
  }
}

/// A consumer of a block that takes all of k.
AICF_DEVICE void ConsumeWhole(const Args& args, const SharedLayout& shared, int consumer) {
  Consume(shared, consumer, [&](const TileWalk& walk, const Sums& sums, int row0, float* memory) {
    const auto place = [&](index_t row) { return walk.PositionOf(row); };
    const index_t rows = kSwap ? walk.column0 : 0, columns = kSwap ? 0 : walk.column0;
    sums.Store(args, memory, place, rows + row0, columns, 0);
  });
}

/// A consumer of a block that takes its share: its sums go into the tile in shared memory.
AICF_DEVICE void ConsumeShare(const SharedLayout& shared, int consumer) {
  const Share share;
  RingPlace place;
  Sums sums = {};
  const int row0 = consumer * kConsumerRows;
  MultiplyTile(shared, place, share.end - share.first, row0, sums, [] {});
  // The tile lies where the stages were, which the other consumers may still read.
  NamedBarrierWait(1, kConsumers * kWarpgroup);
  PutShare(shared, row0, sums);
}

AICF_DEVICE void Kernel(const Args& args) {
  const SharedLayout shared;
  if (threadIdx.x == 0) {
    PrefetchTensorMap(args.map[0]);
    PrefetchTensorMap(args.map[1]);
    InitBarriers(shared);
  }
  __syncthreads();
  const auto consume = [&](int consumer) {
    if constexpr (kSharesLength)
      ConsumeShare(shared, consumer);
    else
      ConsumeWhole(args, shared, consumer);
  };
  // Every warpgroup stores a part of a shared tile, the producer's too.
  constexpr bool kMovesRegisters = kConsumers > 1 && !kSharesLength;
  RunWarpgroups<kMovesRegisters>([&] { Produce(args, shared); }, consume);
  if constexpr (kSharesLength) {
    const TileWalk walk;
    StoreShared(
        args, shared, [&](index_t row) { return walk.PositionOf(row); }, walk.column0);
  }
}

}  // namespace aicf
