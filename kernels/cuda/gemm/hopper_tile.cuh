// The shape of a Hopper product (gemm/hopper.cuh): its operands' layouts, its tile, who multiplies
// what, and which block of a cluster takes which tile.
#pragma once

#include "common/enums.cuh"
#include "common/tma.cuh"
#include "common/wgmma.cuh"

namespace aicf {

typedef In0::S tile_t;
static_assert(kSame<In0::S, In1::S>, "both operands have one type");
static_assert(kSame<tile_t, bf16> || kSame<tile_t, f16> || (kSame<tile_t, float> && kMath == kTf32),
              "multiplies bf16, f16, and f32 as tf32");
static_assert(kSame<raw_t, float>, "sums are f32");

constexpr int kAxisM = Out0::kRank - 2;
constexpr int kAxisN = Out0::kRank - 1;
constexpr index_t kM = Out0::extent(kAxisM);
constexpr index_t kN = Out0::extent(kAxisN);
constexpr index_t kLength = In0::extent(kAxisN);
static_assert(kLength > 0, "something is summed");

/// Bytes of one line of a tile in shared memory, and of its swizzle's pattern.
constexpr int kLineBytes = 128;
constexpr int kPatternBytes = 1024;
constexpr int kLine = kLineBytes / static_cast<int>(sizeof(tile_t));
static_assert(kTileK == kLine, "a stage is one line of k");

// A cluster's blocks share tiles of operands, or, with kSplit above 1, the k of one tile.
constexpr int kSharing = kClusterX / kSplit;  ///< blocks that fetch for each other
constexpr int kClusterN = kSharing / kClusterM;
static_assert(kClusterM * kClusterN * kSplit == kClusterX, "the cluster is whole");
static_assert(kSplit == 1 || kSharing == 1, "blocks share operands or k");

// The tensor cores' rows are m, or n where kSwap: then few m are no waste.
constexpr int kRows = kSwap ? kTileN : kTileM;
constexpr int kColumns = kSwap ? kTileM : kTileN;
constexpr int kConsumerRows = kPingPong ? kRows : kRows / kConsumers;
constexpr int kBlocksOfRows = kConsumerRows / 64;
static_assert(kConsumerRows % 64 == 0, "a warpgroup multiplies 64 rows at a time");
static_assert(kPingPong || kConsumerRows * kConsumers == kRows, "consumers share the rows evenly");

constexpr int kStageBytes = (kTileM + kTileN) * kLineBytes;
constexpr int kStageSteps = 4;  ///< products along a line of k
constexpr index_t kSteps = (kLength - 1) / kTileK + 1;
static_assert(kSteps >= kSplit, "every block has a part of k");

/// The block's rank in its cluster: with kSplit its part of k.
AICF_DEVICE int RankInCluster() { return static_cast<int>(blockIdx.x) % kClusterX; }

/// Steps [first, end) of k: all of them, or this block's part, which differ by one step at most.
struct StepRange {
  index_t first = 0, end = kSteps;

  AICF_DEVICE StepRange() {
    if constexpr (kSplit > 1) {
      first = kSteps * RankInCluster() / kSplit;
      end = kSteps * (RankInCluster() + 1) / kSplit;
    }
  }
};

/// One operand's part of a stage. Lines run along k (kAlongK) or along m or n; kPeers blocks of the
/// cluster need the same part, and each fetches its share of it for all of them. Across k a tile is
/// panels of 64 of m or n, shared out whole, or, where they cannot be, a share of k of each.
template <bool kAlongK_, int kTile, int kPeers>
struct OperandTile {
  static constexpr bool kAlongK = kAlongK_;
  static constexpr bool kSharesK = !kAlongK && kTile / kLine % kPeers != 0;
  static constexpr int kLines = kAlongK ? kTile / kPeers : kTileK / (kSharesK ? kPeers : 1);
  static constexpr int kBoxes = kAlongK ? 1 : kTile / kLine / (kSharesK ? 1 : kPeers);
  static constexpr int kBoxBytes = kLines * kLineBytes;
  static_assert(kBoxes * kPeers * kBoxBytes == kTile * kLineBytes, "boxes make up the tile");
  static_assert(kBoxBytes % kPatternBytes == 0, "boxes are whole swizzle patterns");
  static_assert(kLines <= 256, "a box has at most 256 lines");
  static_assert(kAlongK || sizeof(tile_t) == 2, "only 16-bit operands may lie across k");

  /// Asks for share `peer` of the part of k from k0 and of the other direction from `first`.
  static AICF_DEVICE void Fetch(const void* map, unsigned tile, unsigned barrier, int first, int k0,
                                int batch, int peer, unsigned blocks) {
#pragma unroll
    for (int i = 0; i < kBoxes; ++i) {
      const int panel = kSharesK ? i : peer * kBoxes + i;
      const int line = kSharesK ? peer * kLines : 0;
      const unsigned to = tile + (kAlongK ? panel * kLines : panel * kTileK + line) * kLineBytes;
      const int x = kAlongK ? k0 : first + panel * kLine;
      const int y = kAlongK ? first + panel * kLines : k0 + line;
      if constexpr (kPeers > 1)
        CopyBoxToBlocks(to, map, barrier, x, y, batch, blocks);
      else
        CopyBox(to, map, barrier, x, y, batch);
    }
  }
  /// Bytes from one step of products along k to the next.
  static constexpr int kStepBytes =
      kAlongK ? kLineBytes / kStageSteps : kTileK / kStageSteps * kLineBytes;
  /// The tile, or its part from a multiple of 64 lines or of one block of lines on.
  static AICF_DEVICE u64 Operand(unsigned tile) {
    return OperandAt(tile, kAlongK ? 16 : kTileK * kLineBytes, kPatternBytes);
  }
};

/// Whether the operand's tensor map has lines along k. An axis of one element is contiguous
/// whatever its stride says. Where both axes are contiguous, k is the line unless it has one
/// element alone: AlongK in gemm/hopper_operand.cc, which makes the map, must decide the same.
template <class View>
AICF_DEVICE constexpr bool LiesAlongK(int k, int other) {
  const bool contiguous = View::stride(k) == 1 || View::extent(k) == 1;
  const bool other_contiguous = View::stride(other) == 1 || View::extent(other) == 1;
  return contiguous && (View::extent(k) > 1 || !other_contiguous);
}
typedef OperandTile<LiesAlongK<In0>(kAxisN, kAxisM), kTileM, kClusterN> TileA;
typedef OperandTile<LiesAlongK<In1>(kAxisM, kAxisN), kTileN, kClusterM> TileB;

/// The operand's index along the third coordinate of its tensor map.
template <class View>
AICF_DEVICE int BatchOf(index_t batch) {
  bool moves = false;
  for (int d = 0; d < kAxisM; ++d) moves = moves || (Out0::extent(d) > 1 && View::stride(d) != 0);
  return moves ? static_cast<int>(batch) : 0;
}

AICF_DEVICE constexpr index_t TilesIn(index_t extent, index_t tile) {
  return extent > 0 ? (extent - 1) / tile + 1 : 1;
}

/// Where this block stands in its cluster, and the clusters' tiles one after the other.
struct TileWalk {
  static constexpr index_t kTilesM = TilesIn(kM, index_t(kTileM) * kClusterM);
  static constexpr index_t kTilesN = TilesIn(kN, index_t(kTileN) * kClusterN);
  static constexpr index_t kTiles = kTilesM * kTilesN * kOutputCount2;
  static constexpr index_t kClusters = kGridX / kClusterX;

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
  AICF_DEVICE bool Valid() const { return tile < kTiles; }
  AICF_DEVICE bool HasNext() const { return tile + kClusters < kTiles; }
  AICF_DEVICE void Next() {
    tile += kClusters;
    Place();
  }
  /// Tiles run down kGroupM rows of tiles, then to the next column: what runs at the same time
  /// needs few rows of A and few columns of B, which stay in the L2 cache.
  AICF_DEVICE void Place() {
    constexpr index_t kGroup = kGroupM * kTilesN;
    const index_t in_batch = tile % (kTilesM * kTilesN);
    batch = tile / (kTilesM * kTilesN);
    const index_t first = in_batch / kGroup * kGroupM;
    const index_t rows = kTilesM - first < kGroupM ? kTilesM - first : kGroupM;
    const index_t in_group = in_batch % kGroup;
    row0 = ((first + in_group % rows) * kClusterM + rank_m) * kTileM;
    column0 = (in_group / rows * kClusterN + rank_n) * kTileN;
  }
};

}  // namespace aicf
