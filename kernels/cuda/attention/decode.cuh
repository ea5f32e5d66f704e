// cuda.attention.decode: few rows and many keys, 16 bits, both products on tensor cores (mma.sync).
// A cluster of kSplit blocks has one key head of one request and up to 16 rows. Its kSplit x kWarps
// warps divide the keys: each has a stretch of tiles of kTileKeys keys. A warp loads its own tiles,
// kStages - 1 ahead, and waits for no other warp until its stretch ends. Then each block adds up
// the rows of its warps, and the cluster those of its blocks. How keys are divided follows from the
// request's own length alone, and sums are always added in the same order, so that a result does
// not depend on other requests. With kAhead, lengths and pages are read before the wait for the
// preceding kernel. The next kernel may start only when the warps' first tiles are on their way, so
// that what it reads ahead is requested after them. A step that appends its request's new key and
// value (attention/decode_append.cuh) reads keys and values ahead, too: no other step writes them.
#pragma once

#include "attention/keys.cuh"

#define AICF_KERNEL_WAITS

namespace aicf {

constexpr bool kWord = false;
constexpr int kStep = kTileKeys;
constexpr int kThreads = kBlockX * kBlockY;
constexpr int kRows = 16;
constexpr int kHeldRows = kAllRows < kRows ? MaxOf(1, static_cast<int>(kAllRows)) : kRows;
constexpr int kHalves = kHeldRows > 8 ? 2 : 1, kUnroll = 8;
constexpr bool kShortWeights = true;
constexpr int kParts = kSplit * kWarps;
static_assert(kClusterX == kSplit && kBlockY == kWarps, "the launch has a warp for every part");
static_assert(kStep % 16 == 0 && kStep <= 32, "a lane finds one key of a tile");

/// Divides the tiles of keys [begin, end) into parts, one for each warp of the cluster. Where there
/// are fewer tiles than warps, the first `used` warps have one tile each and the others none. The
/// last part never has more tiles than others, because its warp puts a new row into one of them.
struct Parts {
  int begin, tiles, used;

  AICF_DEVICE Parts(int from, int to)
      : begin(from), tiles((to - from + kStep - 1) / kStep), used(MinOf(tiles, kParts)) {}
  /// Blocks of the cluster that have keys.
  AICF_DEVICE int Blocks() const { return (used + kWarps - 1) / kWarps; }
  /// First key of a part; for part `used` and beyond, the first key behind all parts.
  AICF_DEVICE int First(int part) const {
    if (part >= used) return begin + tiles * kStep;
    return begin + static_cast<int>((static_cast<i64>(tiles) * part + used - 1) / used) * kStep;
  }
};

}  // namespace aicf

// The headers below are written in terms of the constants above.
#include "attention/decode_append.cuh"
#include "attention/decode_merge.cuh"
#include "attention/decode_tiles.cuh"
#include "attention/warp_rows.cuh"

namespace aicf {

AICF_DEVICE void LoadQueries(const Args& args, const Tile& tile, tile_t* query) {
  LoadRows<In0, tile_t, kThreads, kHead, kHeadWidth, kHeadPitch>(
      args, 0, kRows, query, [&](int r, index_t* at) {
        *at = tile.Holds(r) ? tile.Offset<In0>(r) : 0;
        return tile.Holds(r);
      });
  CopyCommit();
}

/// Begins to load the first tiles, and puts the queries into shared memory, with the new rows of a
/// step that appends, which gets to know its place. The block's threads still have to meet before
/// they read these.
AICF_DEVICE void Begin(const Args& args, const Tile& tile, tile_t* query, const NewRows& rows,
                       int first, NewPlace& place, WarpTiles& tiles) {
  tiles.Find(first);
  if constexpr (kAppends) {
    tiles.Begin(first);
    if (kAhead != 0) WaitForPredecessors();
    LetSuccessorsStart();
    place.Load(args, tile.b);
    rows.Move(place);
    tiles.MarkFirst(first);
  } else {
    if (kAhead != 0) WaitForPredecessors();
    LoadQueries(args, tile, query);
    tiles.Begin(first);
    LetSuccessorsStart();
    CopyWait<kStages - 1>();
  }
}

/// Adds keys [first, last) to the warp's rows; keys from `end` on are not visible. All threads of
/// the block have to call it: it contains one barrier of the block.
AICF_DEVICE void TakeKeys(const Args& args, const Tile& tile, const PageTable& table, tile_t* query,
                          const NewRows& new_rows, int first, int last, int end, WarpRows& rows) {
  const int lane = threadIdx.x;
  NewPlace place;
  WarpTiles tiles(args, tile, table, end, last, place);
  Begin(args, tile, query, new_rows, first, place, tiles);
  __syncthreads();  // the queries are there
  for (int at = first, stage = 0; at < last; at += kStep) {
    CopyWait<kStages - 2>();
    __syncwarp();  // the tile is there, and no lane reads the previous one any more
    tiles.Next();
    tiles.PutNewRow(stage);
    rows.Multiply(query, tiles.Keys(stage), lane);
    const PresentKeys present = tiles.Present(stage);
    if (rows.SeesAll(at, present.bits)) {
      rows.ScoreSeen(args, tile.b, at, lane);
    } else {
      rows.Score(args, tile.b, at, present, lane);
    }
    rows.Soften();
    rows.AddValues(tiles.Values(stage), lane);
    stage = stage + 1 == kStages ? 0 : stage + 1;
  }
}

AICF_DEVICE void Attend(const Args& args) {
  tile_t* query = reinterpret_cast<tile_t*>(DynamicShared());
  const int lane = threadIdx.x, warp = threadIdx.y;
  const int rank = static_cast<int>(blockIdx.x % kClusterX), part = rank * kWarps + warp;
  const Tile tile(kRows);
  // What the table and the request's operands say is on its way while addresses are computed.
  const PageTable table(args, tile.b);
  const RequestOperands operands(args, tile.b);
  HoldLoads();
  const NewRows new_rows(args, tile, rank == 0 && tile.first == 0);
  const Request request(operands);
  const i64 last = tile.first + kRows < kAllRows ? tile.first + kRows : kAllRows;
  const int begin = request.Begin(tile.Query(0));
  const int end = request.End(static_cast<int>((last - 1) / kGroup));
  const Parts parts(begin, MaxOf(begin, end));
  const bool alone = kSplit == 1 || parts.Blocks() <= 1;  // the first block has all keys
  if (alone && rank > 0) {
    // A kernel must not end before the one before it has (KernelInfo::waits_first).
    if (kAhead != 0) WaitForPredecessors();
    return;
  }
  __shared__ Inbox inbox;
  if constexpr (kSplit > 1) {
    if (!alone) {
      if (ThreadInBlock() == 0) inbox.Open(BytesSentTo(rank));
      ClusterArrive();  // ClusterWait follows before a block sends to the memory of another
    }
  }
  WarpRows rows;
#pragma unroll
  for (int half = 0; half < kHalves; ++half) {
    rows.max[half] = NoScore();
    rows.Place(tile, request, half, lane);
  }
  TakeKeys(args, tile, table, query, new_rows, parts.First(part), parts.First(part + 1), end, rows);
  __syncthreads();  // nobody reads queries, keys and values any more
  SaveRows(rows, warp, lane);
  __syncthreads();
  if (alone) {
    MergeWarps<true>(args, tile, inbox, rank);
  } else if constexpr (kSplit > 1) {
    ClusterWait();
    MergeWarps<false>(args, tile, inbox, rank);
    inbox.Await();
    MergeBlocks(args, tile, rank);
  }
}

AICF_DEVICE void Kernel(const Args& args) {
  if (kAhead == 0 || kNoRows) WaitForPredecessors();
  if constexpr (!kNoRows) Attend(args);
  CopyPools(args);
}

}  // namespace aicf
