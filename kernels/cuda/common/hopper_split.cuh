// A Hopper product whose k the blocks of a cluster share out. Each puts the sums over its part into
// its shared memory, over the stages that it no longer needs; then each finishes a part of the tile
// from the sums of all of them, added in the order of the blocks.
#pragma once

#include "common/hopper_product.cuh"

namespace aicf {

/// The tile of sums: a line of kTileN columns for each of kTileM rows. The pitch keeps the
/// fragments' stores off each other's banks.
constexpr int kSharePitch = kTileN + (kSwap ? 4 : 8);
static_assert(kClusterX == 1 || kTileM * kSharePitch * 4 <= kStages * kStageBytes,
              "the sums fit where the stages were");
static_assert(kClusterX == 1 || (!kRowsInner && !kPingPong), "as the host checks");

AICF_DEVICE float* ShareMemory(const SharedLayout& shared) {
  return reinterpret_cast<float*>(shared.start);
}

/// Puts a consumer's sums, which begin at row0 of the tensor cores, into the tile.
AICF_DEVICE void PutShare(const SharedLayout& shared, int row0, const Sums& sums) {
  float* tile = ShareMemory(shared);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int first = row0 + static_cast<int>(threadIdx.x) / 32 % 4 * 16 + lane / 4;
#pragma unroll
  for (int i = 0; i < kBlocksOfRows; ++i) {
#pragma unroll
    for (int g = 0; g < kColumns / 8; ++g) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = first + i * 64 + half * 8, column = 8 * g + lane % 4 * 2;
        const float* pair = sums.d[i] + 4 * g + 2 * half;
        if constexpr (kSwap) {
          tile[column * kSharePitch + row] = pair[0];
          tile[(column + 1) * kSharePitch + row] = pair[1];
        } else {
          *reinterpret_cast<Pack<float, 2>*>(tile + row * kSharePitch + column) = {pair[0],
                                                                                   pair[1]};
        }
      }
    }
  }
}

/// kRun sums of the tile, over all of k.
AICF_DEVICE void AddShares(const float* own, raw_t (&raw)[kRun]) {
  constexpr int kPiece = MinOf(kRun, 4);
  float parts[kClusterX][kRun / kPiece][kPiece];
#pragma unroll
  for (int rank = 0; rank < kClusterX; ++rank) {
#pragma unroll
    for (int p = 0; p < kRun / kPiece; ++p) LoadOfBlock(parts[rank][p], own + p * kPiece, rank);
  }
#pragma unroll
  for (int j = 0; j < kRun; ++j) {
    raw[j] = parts[0][j / kPiece][j % kPiece];
#pragma unroll
    for (int rank = 1; rank < kClusterX; ++rank) raw[j] += parts[rank][j / kPiece][j % kPiece];
  }
}

/// Stores the tile, whose columns begin at the output's column0; place(row) is the row's index in
/// the output, below 0 for none. Every thread of the cluster comes here once, after PutShare.
template <class Place>
AICF_DEVICE void StoreShared(const Args& args, const SharedLayout& shared, const Place& place,
                             index_t column0) {
  constexpr int kRuns = kTileN / kRun;
  constexpr int kOwn = (kRuns * kTileM + kClusterX - 1) / kClusterX;  ///< runs of a block
  __syncwarp();
  ClusterBarrier();
  const float* tile = ShareMemory(shared);
  const int first = static_cast<int>(blockIdx.x) % kClusterX * kOwn;
#pragma unroll 1
  for (int e = static_cast<int>(threadIdx.x); e < kOwn; e += kBlockX) {
    const int row = (first + e) / kRuns, column = (first + e) % kRuns * kRun;
    const index_t i0 = column0 + column, i1 = row < kTileM ? place(row) : -1;
    if (i0 >= kInnerEnd || i1 < 0) continue;
    raw_t raw[kRun];
    AddShares(tile + row * kSharePitch + column, raw);
    Epilogue::Store<kRun>(args, raw, i0, i1, 0);
  }
  // A block's shared memory outlives the others' reads.
  ClusterBarrier();
}

}  // namespace aicf
