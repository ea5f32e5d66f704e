// Which threads turn the sums of a Hopper product into results: the consumers, in some cases with
// helpers. Where a block has one tile and one consumer, the producer's four warps have nothing left
// to do when they have asked for the last stage, and a consumer's thread would have some 32 results
// to compute alone: an epilogue with an error function then takes longer than the products. There
// every warp of the producer helps the consumer's warp of the same number, and computes half of the
// results from the sums that this one has put into shared memory.
//
// REQUIRES: the instance has defined TileWalk and StageScales.
#pragma once

#include "common/hopper_stage.cuh"
#include "common/mbarrier.cuh"

namespace aicf {

constexpr bool kHelped =
    TileWalk::kOne && kConsumers == 1 && kBlockX == 2 * 128 && StageScales::kFloats == 0 &&
    // Blocks that share out k send each other the sums of one part after the other, and a helper
    // waits for one part only (SplitStore::Help). So they have helpers only where a tile is a
    // single part, and not where that has 56 columns.
    (kSplit == 1 || (kBlocksOfRows == 1 && kColumns <= 64 && kColumns % 56 != 0));
constexpr int kStoreHalves = kHelped ? 2 : 1;

/// Which half of the runs of results is this thread's: 0, the first, for the consumer, 1 for its
/// helpers.
AICF_DEVICE int StoreHalf() { return kHelped && threadIdx.x < 128 ? 1 : 0; }
/// Barrier of a consumer's warp and the warp that helps it; of the warp alone where none does.
AICF_DEVICE void MeetHelper() {
  if constexpr (kHelped)
    NamedBarrierMeet(8 + static_cast<int>(threadIdx.x) / 32 % 4, 2 * 32);
  else
    __syncwarp();
}
/// Barrier of all warps of the consumer and of its helpers; nothing where there are no helpers.
AICF_DEVICE void MeetHelpers() {
  if constexpr (kHelped) NamedBarrierMeet(12, 2 * 128);
}

}  // namespace aicf
