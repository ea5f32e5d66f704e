// Who turns the sums of a Hopper product into results. Where a block has one tile and one consumer,
// the producer's four warps have nothing left to do when they have asked for the last stage, and a
// consumer's thread would have some 32 results to compute alone: an epilogue with an error function
// takes longer than the products then. There every warp of the producer helps the warp of the
// consumer with its number, and takes half of what that one has put into shared memory.
//
// Needs TileWalk and StageScales of the instance.
#pragma once

#include "common/hopper_stage.cuh"
#include "common/mbarrier.cuh"

namespace aicf {

constexpr bool kHelped =
    TileWalk::kOne && kConsumers == 1 && kBlockX == 2 * 128 && StageScales::kWarps == 0 &&
    // Blocks that share out k exchange their sums once, part by part there is nobody to wait for.
    (kSplit == 1 || (kBlocksOfRows == 1 && kColumns <= 64 && kColumns % 56 != 0));
constexpr int kStoreHalves = kHelped ? 2 : 1;

/// Which half of the runs of results is the thread's: the consumer has the first.
AICF_DEVICE int StoreHalf() { return kHelped && threadIdx.x < 128 ? 1 : 0; }
/// A warp of the consumer and the one that helps it.
AICF_DEVICE void MeetHelper() {
  if constexpr (kHelped)
    NamedBarrierMeet(8 + static_cast<int>(threadIdx.x) / 32 % 4, 2 * 32);
  else
    __syncwarp();
}
/// All warps of both.
AICF_DEVICE void MeetHelpers() {
  if constexpr (kHelped) NamedBarrierMeet(12, 2 * 128);
}

}  // namespace aicf
