// How the blocks of a cluster that share out the k of one tile (kSplit) add up their sums.
// Warpgroups of the same number hold sums of the same results, whose lines they share out: each
// sends its sums of a line to the block that finishes the line, straight from its registers into
// that block's shared memory, where they count towards a barrier. The block adds up what all have
// sent in the order of the blocks, so that results are the same in every run. Nobody reads another
// block's memory, so a block is done when it has its own share, whatever the others do.
#pragma once

#include "common/cluster.cuh"
#include "common/hopper_store.cuh"
#include "common/mbarrier.cuh"

namespace aicf {

/// A part of a warpgroup's sums (64 rows, kStageColumns columns) as lines of the output, shared out
/// in the order of the blocks. Block `rank` finishes the lines [First(rank), First(rank + 1)). With
/// two halves a line has the sums of the first half for all its results, then those of the second.
struct PartShares {
  static constexpr int kRows = 64 / kRowHalves;  ///< rows of results in a part
  static constexpr int kLines = kColumnsInner ? kRows : kPartColumns;
  static constexpr int kInner = kColumnsInner ? kPartColumns : kRows;  ///< results of a line
  static constexpr int kLineSums = kProductHalves * kInner;
  static constexpr int kMostLines = (kLines - 1) / kSplit + 1;  ///< most lines of a block
  static constexpr int kSenderSums = kMostLines * kLineSums;    ///< room for what one block sends
  static_assert((kLineSums & (kLineSums - 1)) == 0, "the pattern needs a power of two");

  static AICF_DEVICE int RankOf(int line) { return line * kSplit / kLines; }
  static AICF_DEVICE int First(int rank) { return (rank * kLines + kSplit - 1) / kSplit; }
  /// Bytes that block `rank` is sent for one part, its own sums included.
  static AICF_DEVICE int BytesFor(int rank) {
    return (First(rank + 1) - First(rank)) * kLineSums * 4 * kSplit;
  }
  /// Index of a sum within the room of the block that sent it. `line` counts from the first line
  /// that the receiving block finishes, `inner` counts the sums of a line. The pattern permutes
  /// whole groups of four sums, so that neither what a warp sends nor what it loads meets in one
  /// bank.
  static AICF_DEVICE int Place(int line, int inner) {
    const int far = inner / 32 % 2 * 4;
    const int pattern =
        kColumnsInner ? line % 4 * 8 + (line / 4 % 2 * 4 ^ far) : line / 2 % 4 * 8 + far;
    return line * kLineSums + (inner ^ (pattern & (kLineSums - 1)));
  }
};

/// Run i of the results of one part that this thread of its warpgroup finishes.
struct ShareRun {
  static constexpr int kLineRuns = PartShares::kInner / kRun;
  static constexpr int kThreads = 128 * kStoreHalves;
  static constexpr int kCount = (PartShares::kMostLines * kLineRuns - 1) / kThreads + 1;
  static constexpr bool kOneInner = 128 % kLineRuns == 0;  ///< a thread's runs share `inner`
  static constexpr bool kAllValid =
      PartShares::kLines % kSplit == 0 && PartShares::kMostLines * kLineRuns % kThreads == 0;

  int line, lines;   ///< index among the lines that this block finishes, and their number
  int outer, inner;  ///< within the part

  AICF_DEVICE explicit ShareRun(int i) {
    const int run = i * kThreads + StoreHalf() * 128 + static_cast<int>(threadIdx.x) % 128;
    const int first = PartShares::First(RankInCluster());
    line = run / kLineRuns;
    lines = PartShares::First(RankInCluster() + 1) - first;
    outer = first + line;
    inner = run % kLineRuns * kRun;
  }
  AICF_DEVICE bool Valid() const { return line < lines; }
};

/// Stores the results of a warpgroup whose sums are those of this block's part of k alone.
struct SplitStore {
  typedef RunStore<ShareRun, Sums::kParts> Runs;
  static constexpr int kUnrolledParts = Runs::kUnrolledParts;
  static constexpr int kBarrierBytes = 64;  ///< of a warpgroup: "all have sent", "all have loaded"

  sum_t* memory;         ///< the warpgroup's
  unsigned barriers;     ///< the warpgroup's
  const float* moments;  ///< of the warpgroup's rows, where the epilogue sees them
  unsigned round = 0;
  Runs runs;

  AICF_DEVICE SplitStore(sum_t* group_memory, unsigned group_barriers, const float* group_moments)
      : memory(group_memory), barriers(group_barriers), moments(group_moments) {}

  /// Called by one thread for each warpgroup of its block. The other blocks may send once a barrier
  /// of the cluster has followed.
  static AICF_DEVICE void Init(unsigned barriers) {
    BarrierInit(barriers, 1);
    BarrierInit(barriers + 8, 4 * kSplit);
    BarrierArriveExpect(barriers, PartShares::BytesFor(RankInCluster()));
  }
  /// See WarpStore.
  AICF_DEVICE void Ask(const Args& args, const TileWalk& tile, int row0) {
    runs.Ask(args, [&](int part) { return PartPlace(part, tile, row0, 0); });
  }
  /// Asks for nothing, because blocks that share k have few tiles.
  AICF_DEVICE void Prefetch(const Args&, const TileWalk&, int) const {}
  AICF_DEVICE void Store(const Args& args, const Sums& sums, const TileWalk& tile, int row0) {
    if constexpr (Moments::kSeen) MeetHelpers();
    if (round == 0) ClusterWait();  // the barriers of all blocks are there
#pragma unroll(kUnrolledParts)
    for (int part = 0; part < Sums::kParts; ++part, ++round) {
      const bool last_of_tile = part + 1 == Sums::kParts, last = last_of_tile && !tile.HasNext();
      if (round > 0) BarrierWait(barriers + 8, (round - 1) & 1);
      sums.WithPart(part, [&](const PartSums& own) { Send(own); });
      BarrierWait(barriers, round & 1);
      if (!last && threadIdx.x % 128 == 0)
        BarrierArriveExpect(barriers, PartShares::BytesFor(RankInCluster()));
      StorePart(args, part, tile, row0);
      // A block that waits for this is still running. After the last part no block waits, and
      // others may have ended.
      if (!last) TellLoaded();
    }
  }

  /// What the producer's warps do meanwhile: their half of the results of the only part of the only
  /// tile.
  AICF_DEVICE void Help(const Args& args, const TileWalk& tile) {
    if constexpr (Moments::kSeen) MeetHelpers();
    BarrierWait(barriers, 0);
    StorePart(args, 0, tile, 0);
  }

 private:
  AICF_DEVICE void StorePart(const Args& args, int part, const TileWalk& tile, int row0) {
    runs.StorePart(
        args, part, [&](int p) { return PartPlace(p, tile, row0, 0); },
        [&](const ShareRun& run, raw_t(&raw)[kRaws * kRun]) {
          LoadSums(run, raw);
          LoadMoments(moments, part, 0, run, raw);
        });
  }
  /// Sends the thread's sums of one part to the blocks that finish them.
  AICF_DEVICE void Send(const PartSums& sums) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int warp = static_cast<int>(threadIdx.x) / 32 % 4;
    if constexpr (kColumnsInner)
      SendRows(sums, lane, warp);
    else
      SendColumns(sums, lane, warp);
  }
  /// Sends pairs of sums as the tensor cores left them. Moving sums between lanes first, to send
  /// fewer and longer pieces, makes the compiler wait for every step's products.
  AICF_DEVICE void SendRows(const PartSums& sums, int lane, int warp) const {
#pragma unroll
    for (int below = 0; below < 2; ++below) {
      const Target to(*this, PairPlace(warp, lane, 0, below).row);
#pragma unroll
      for (int g = 0; g < kStageColumns / 8; ++g) {
        const PairPlace at(warp, lane, g, below);
        const sum_t* pair = sums.Pair(g, below);
        SendToBlock(to.At(at.half * PartShares::kInner + at.column),
                    Pack<sum_t, 2>{{pair[0], pair[1]}}, to.barrier);
      }
    }
  }
  AICF_DEVICE void SendColumns(const PartSums& sums, int lane, int warp) const {
#pragma unroll
    for (int g = 0; g < kStageColumns / 8; ++g) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const Target to(*this, PairPlace(warp, lane, g, 0).column + e);
#pragma unroll
        for (int below = 0; below < 2; ++below) {
          const PairPlace at(warp, lane, g, below);
          SendToBlock(to.At(at.half * PartShares::kInner + at.row), sums.Pair(g, below)[e],
                      to.barrier);
        }
      }
    }
  }
  /// This block's room for one line in the memory of the block that finishes the line.
  struct Target {
    unsigned room, barrier;  // cluster addresses
    int line;

    AICF_DEVICE Target(const SplitStore& from, int part_line) {
      const int rank = PartShares::RankOf(part_line);
      const sum_t* own = from.memory + RankInCluster() * PartShares::kSenderSums;
      room = AddressInBlock(SharedAddress(own), rank);
      barrier = AddressInBlock(from.barriers, rank);
      line = part_line - PartShares::First(rank);
    }
    AICF_DEVICE unsigned At(int inner) const { return room + 4 * PartShares::Place(line, inner); }
  };

  /// Adds up what all blocks have sent of a run.
  AICF_DEVICE void LoadSums(const ShareRun& run, raw_t (&raw)[kRaws * kRun]) const {
    constexpr int kPiece = MinOf(kRun, 4);
#pragma unroll
    for (int half = 0; half < kProductHalves; ++half) {
      const int inner = half * PartShares::kInner + run.inner;
#pragma unroll
      for (int j = 0; j < kRun; j += kPiece) {
        const sum_t* at = memory + PartShares::Place(run.line, inner + j);
        raw_t* to = raw + half * kRun + j;
#pragma unroll
        for (int rank = 0; rank < kSplit; ++rank) {
          const auto piece =
              *reinterpret_cast<const Pack<sum_t, kPiece>*>(at + rank * PartShares::kSenderSums);
#pragma unroll
          for (int k = 0; k < kPiece; ++k) to[k] = rank == 0 ? piece.v[k] : to[k] + piece.v[k];
        }
      }
    }
  }
  /// Tells all blocks that they may send the next part. The results of this one have been stored,
  /// so that the loads of its sums are over. The arrival therefore need not order memory, for which
  /// it would have to wait until those stores are done.
  AICF_DEVICE void TellLoaded() const {
    __syncwarp();
    const int lane = static_cast<int>(threadIdx.x) % 32;
    if (lane < kSplit) BarrierArriveAt(barriers + 8, lane);
  }
};

}  // namespace aicf
