// The shape of a Hopper product (gemm/hopper.cuh): its operands' layouts, its tile, who multiplies
// what, and which block of a cluster takes which tile.
#pragma once

namespace aicf {
constexpr int kHeldB = 0;  ///< blocks fetch B with every stage
}

#include "common/hopper_stage.cuh"

namespace aicf {

constexpr int kAxisM = Out0::kRank - 2;
constexpr int kAxisN = Out0::kRank - 1;
constexpr index_t kM = Out0::extent(kAxisM);
constexpr index_t kN = Out0::extent(kAxisN);
constexpr index_t kLength = In0::extent(kAxisN);
static_assert(kLength > 0, "something is summed");

static_assert(kRowBytes == 128, "a stage is one line of 128 bytes of k");
constexpr index_t kSteps = (kLength - 1) / kTileK + 1;

/// Columns of results of a tile. With two halves a result takes one column of B from each half, so
/// the tile's kTileN columns of B are kTileN / 2 of either half.
constexpr int kResultColumns = kTileN / kProductHalves;

constexpr int kClusterN = kSharing / kClusterM;
static_assert(kClusterM * kClusterN == kSharing, "the cluster is kClusterM x kClusterN blocks");
static_assert(kClusterM == 1 || kClusterN == 1, "clusters in one direction");

/// One operand's part of a stage. kPeers blocks of the cluster need the same part, and each fetches
/// its share of it for all of them. Where lines run along k, a share is a range of lines. Where
/// they run across k, it is a number of whole panels or, if kPeers does not divide their number, a
/// range of k of every panel (kSharesK). With two halves (kParts) runs of either half alternate in
/// the tile (StageOperand::kHalfRun): along k the tensor map's box interleaves them, across k the
/// panels are fetched from the two halves in turn.
template <bool kAlongK, int kTile, int kPeers, int kParts = 1>
struct OperandTile : StageOperand<kAlongK> {
  static constexpr int kLineBytes = StageOperand<kAlongK>::kLineBytes;
  static constexpr bool kSharesK = !kAlongK && kTile / kLine % kPeers != 0;
  static constexpr int kLines = kAlongK ? kTile / kPeers : kTileK / (kSharesK ? kPeers : 1);
  static constexpr int kBoxes = kAlongK ? 1 : kTile / kLine / (kSharesK ? 1 : kPeers);
  static constexpr int kBoxBytes = kLines * kLineBytes;
  static_assert(kBoxes * kPeers * kBoxBytes == kTile * kLineBytes, "boxes make up the tile");
  static_assert(kBoxBytes % kPatternBytes == 0, "boxes are whole swizzle patterns");
  static_assert(kLines <= 256, "a box has at most 256 lines");
  static constexpr int kPair = kParts * StageOperand<kAlongK>::kHalfRun;  ///< a run of each half
  static_assert(kParts == 1 || (kAlongK ? kLines : kTile) % kPair == 0, "whole runs of both");

  /// Requests share `peer` of the tile that begins at k0 along k and at `first` along m or n. With
  /// two halves `first` counts columns of one half, and the tile has the same ones of both.
  /// `blocks` has a bit for each block of the cluster that receives the share.
  static AICF_DEVICE void Fetch(const void* map, unsigned tile, unsigned barrier, int first, int k0,
                                int batch, int peer, unsigned blocks) {
    if constexpr (kAlongK && kParts > 1) {
      const unsigned to = tile + peer * kLines * kLineBytes;
      const int run = first / StageOperand<kAlongK>::kHalfRun + peer * (kLines / kPair);
      if constexpr (kPeers > 1)
        CopyBoxToBlocks(to, map, barrier, k0, 0, 0, run, batch, blocks);
      else
        CopyBox(to, map, barrier, k0, 0, 0, run, batch);
      return;
    }
#pragma unroll
    for (int i = 0; i < kBoxes; ++i) {
      const int panel = kSharesK ? i : peer * kBoxes + i;
      const int line = kSharesK ? peer * kLines : 0;
      const unsigned to = tile + (kAlongK ? panel * kLines : panel * kTileK + line) * kLineBytes;
      const int half = panel % kParts * static_cast<int>(kN);
      const int x = kAlongK ? k0 : first + panel / kParts * kLine + half;
      const int y = kAlongK ? first + panel * kLines : k0 + line;
      if constexpr (kPeers > 1)
        CopyBoxToBlocks(to, map, barrier, x, y, batch, blocks);
      else
        CopyBox(to, map, barrier, x, y, batch);
    }
  }
};

/// Whether the operand's tensor map has lines along k. An axis of one element is contiguous
/// whatever its stride says. Where both axes are contiguous, lines run along k unless k has only
/// one element. AlongK in gemm/hopper_operand.cc, which makes the map, must decide the same.
template <class View>
AICF_DEVICE constexpr bool LiesAlongK(int k, int other) {
  const bool contiguous = View::stride(k) == 1 || View::extent(k) == 1;
  const bool other_contiguous = View::stride(other) == 1 || View::extent(other) == 1;
  return contiguous && (View::extent(k) > 1 || !other_contiguous);
}
typedef OperandTile<LiesAlongK<In0>(kAxisN, kAxisM), kTileM, kClusterN> TileA;
typedef OperandTile<LiesAlongK<In1>(kAxisM, kAxisN), kTileN, kClusterM, kProductHalves> TileB;

/// The operand's coordinate along the batch axis of its tensor map: 0 where one matrix serves the
/// whole batch.
template <class View>
AICF_DEVICE int BatchOf(index_t batch) {
  bool moves = false;
  for (int d = 0; d < kAxisM; ++d) moves = moves || (Out0::extent(d) > 1 && View::stride(d) != 0);
  return moves ? static_cast<int>(batch) : 0;
}

/// The block's place in its cluster, and the tiles that it computes one after the other.
struct TileWalk {
  static constexpr index_t kTilesM = TilesIn(kM, index_t(kTileM) * kClusterM);
  static constexpr index_t kTilesN = TilesIn(kN, index_t(kResultColumns) * kClusterN);
  static constexpr index_t kTiles = kTilesM * kTilesN * kOutputCount2;
  static constexpr index_t kClusters = kGridX / kClusterX;
  static constexpr bool kOne = kTiles <= kClusters;  ///< no block has more than one tile
  /// Whether tiles cover the output exactly, so that every sum of a tile belongs to a result.
  static constexpr bool kWhole = !kCutsRows && kM % (index_t(kTileM) * kClusterM) == 0 &&
                                 kN % (index_t(kResultColumns) * kClusterN) == 0;

  int rank_m, rank_n;
  index_t tile;
  index_t row0, column0, batch;

  AICF_DEVICE TileWalk() {
    const int rank = RankInCluster() % kSharing;
    rank_m = rank % kClusterM;
    rank_n = rank / kClusterM;
    tile = static_cast<index_t>(blockIdx.x) / kClusterX;
    Place();
  }
  /// Makes the compiler compute the tile's indices before this point, so that they are ready when a
  /// wait that follows ends.
  AICF_DEVICE void Hold() {
    HoldIndex(row0);
    HoldIndex(column0);
    HoldIndex(batch);
  }
  AICF_DEVICE bool Valid() const { return tile < kTiles; }
  AICF_DEVICE bool HasNext() const { return tile + kClusters < kTiles; }
  AICF_DEVICE void Next() {
    tile += kClusters;
    Place();
  }
  /// The tile's first result along the tensor cores' rows and columns.
  AICF_DEVICE index_t FirstRow() const { return kSwap ? column0 : row0; }
  AICF_DEVICE index_t FirstColumn() const { return kSwap ? row0 : column0; }
  /// The index of line `outer` in the output, -1 where it is outside. Lines run along the output's
  /// contiguous direction, and `outer` counts along the other one.
  AICF_DEVICE index_t LineOf(index_t outer) const {
    return kWhole || outer < kOutputCount1 ? outer : -1;
  }
  /// Whether the output has a line at or after `outer`.
  AICF_DEVICE bool MayHaveLines(index_t outer) const { return outer < kOutputCount1; }
  /// Tiles are numbered down kGroupM rows of tiles, then on in the next column. Blocks that run at
  /// the same time therefore need few rows of A and few columns of B, which stay in the L2 cache.
  AICF_DEVICE void Place() {
    constexpr index_t kGroup = kGroupM * kTilesN;
    const index_t in_batch = tile % (kTilesM * kTilesN);
    batch = tile / (kTilesM * kTilesN);
    const index_t first = in_batch / kGroup * kGroupM;
    const index_t rows = kTilesM - first < kGroupM ? kTilesM - first : kGroupM;
    const index_t in_group = in_batch % kGroup;
    row0 = ((first + in_group % rows) * kClusterM + rank_m) * kTileM;
    column0 = (in_group / rows * kClusterN + rank_n) * kResultColumns;
  }
};

}  // namespace aicf
