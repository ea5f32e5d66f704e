// cuda.blockgemm.decode: the product for up to 8 rows of A, as a decode step has them, where
// reading B takes all the time. B is packed (blockgemm/packed.h). A warp multiplies panels of 16
// rows of B, chunk by chunk, on tensor cores. Every warp has its own ring of kStages chunks in
// shared memory. It fills the ring by asynchronous copies ahead of the products and, with kAhead,
// even before it waits for the preceding kernel.
//
// Unpacking the codes leaves few instructions for applying scales. The fragment that holds A has
// eight columns, mostly more than A has rows. So its columns hold the rows of A at several runs of
// a chunk (panel_sums.cuh), and each lane has to scale the sums of only a few groups.
//
// In a product of two halves (kProductHalves is 2), neighbouring panels of a block's warps belong
// to different halves: panel p of B has the rows for the same columns of results as
// panel p + kPanels.
//
// With kIntegers the only row of A becomes integers, which are multiplied with the codes as they
// are (blockgemm/panel_integers.cuh). With kApart every warp makes those that it multiplies, and
// waits for no other warp before its first product.
//
// The chunks of a panel are shared out among kAlongK warps of a block, and those of all panels
// among the kClusterX blocks of a cluster. The partial sums meet in shared memory and are added in
// a fixed order. Blocks walk through the panels in strides of the grid, and their warps meet only
// after kBatch such turns.
#pragma once

#include "common/block.cuh"
#include "common/blocks.cuh"

#include "blockgemm/panel_sums.cuh"

#define AICF_KERNEL_WAITS

namespace aicf {

/// Panels of B that a block multiplies at once, and the panels of results that come of them: in a
/// product of two halves, two panels of B make one of results.
constexpr int kPanelWarps = kWarps / kAlongK;
constexpr int kResultPanels = kPanelWarps / kProductHalves;
static_assert(kBlockX == 32 * kWarps && kWarps % kAlongK == 0, "warps share panels evenly");
static_assert(kPanelWarps % kProductHalves == 0, "a block has both halves");
static_assert(kProductHalves == 1 || kColumns % 16 == 0, "a half is whole panels");

constexpr int kRingBytes = kStages * Chunk::kBytes;
/// Sums of one row of a warp's panel: one for every row of A.
constexpr int kCells = kM;
constexpr int kCellsBytes = 16 * kCells * 4;
static_assert(!kNormalizesRows || kParts == 1, "a block has whole rows to normalise");

/// Clusters (blocks that share out k), the panels of results that all clusters together have at
/// once, and the number of turns in which they walk through all panels.
constexpr index_t kClusters = kGridX / kParts;
constexpr index_t kPanelsAtOnce = kClusters * kResultPanels;
constexpr int kTurns = static_cast<int>((kPanels - 1) / kPanelsAtOnce + 1);
/// kEqualSteps: whether all warps of a panel have equally many chunks. kMostSteps: the most chunks
/// that a warp has of a panel; with kEqualSteps every warp has that many.
constexpr bool kEqualSteps = kPartChunks % kAlongK == 0 && kChunks % kParts == 0;
constexpr int kMostSteps = static_cast<int>((kPartChunks + kAlongK - 1) / kAlongK);

/// Where a warp's ring and cells begin in the block's shared memory, behind the rows of A.
AICF_DEVICE char* RingOf(int warp);
AICF_DEVICE float* CellsOf(int turn, int warp);

struct Warp {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int number = static_cast<int>(threadIdx.x) / 32;
  const int part = static_cast<int>(blockIdx.x) % kParts;
  const index_t cluster = static_cast<index_t>(blockIdx.x) / kParts;

  AICF_DEVICE index_t Chunk0() const { return part * kPartChunks; }
  /// The panel of results that is the block's number `of_block` in a turn.
  AICF_DEVICE index_t PanelOf(int turn, int of_block) const {
    return turn * kPanelsAtOnce + cluster * kResultPanels + of_block;
  }
  /// The warp's first panel, counted within its half; the half; and the number of turns in which
  /// the warp has a panel.
  AICF_DEVICE index_t Panel0() const { return PanelOf(0, number / kAlongK / kProductHalves); }
  AICF_DEVICE int Half() const { return number / kAlongK % kProductHalves; }
  AICF_DEVICE int Turns() const {
    if constexpr (kPanels % kPanelsAtOnce == 0) return kTurns;
    return Panel0() + (kTurns - 1) * kPanelsAtOnce < kPanels ? kTurns : kTurns - 1;
  }
  /// The warp's first chunk of a panel, counted within its block's part of k, and how many chunks
  /// it has of that panel.
  AICF_DEVICE int FirstChunk() const { return number % kAlongK; }
  AICF_DEVICE int Steps() const {
    if constexpr (kEqualSteps) return kMostSteps;
    const index_t left = MinOf(kPartChunks, kChunks - Chunk0()) - FirstChunk();
    return left <= 0 ? 0 : static_cast<int>((left - 1) / kAlongK) + 1;
  }
  AICF_DEVICE char* Stage(int stage) const { return RingOf(number) + stage * Chunk::kBytes; }
  AICF_DEVICE float* Cells(int turn, int warp) const { return CellsOf(turn, warp); }
};

/// The chunks of a warp, which pass through its ring one after the other.
class Ring {
 public:
  AICF_DEVICE Ring(const Warp& warp, const void* packed) : warp_(warp) {
    steps_ = warp.Steps();
    left_ = warp.Turns() * steps_;
    from_ =
        ChunkAt(packed, warp.Panel0() + warp.Half() * kPanels, warp.Chunk0() + warp.FirstChunk()) +
        warp.lane * 16;
    stage_ = warp.Stage(0);
    free_ = warp.Stage(kStages - 1);
  }

  /// Starts the copies that fill the stages [first, last). REQUIRES: first is where the call before
  /// this one has ended.
  AICF_DEVICE void Start(int first, int last) {
#pragma unroll
    for (int stage = first; stage < last; ++stage) Fetch(warp_.Stage(stage));
  }
  /// Waits for the next chunk and returns it. Starts copying a later chunk into the stage of the
  /// chunk that the previous call returned.
  AICF_DEVICE const char* Next() {
    CopyWait<kStages - 2>();
    // Now the copies of all lanes have arrived, and no lane still reads the stage that is filled
    // next.
    __syncwarp();
    Fetch(free_);
    free_ = stage_;
    stage_ = stage_ == warp_.Stage(kStages - 1) ? warp_.Stage(0) : stage_ + Chunk::kBytes;
    return free_;
  }

 private:
  /// Starts copying the next chunk, if there is one.
  AICF_DEVICE void Fetch(char* stage) {
    if (left_ > 0) {
      char* to = stage + warp_.lane * 16;
#pragma unroll
      for (int at = 0; at < Chunk::kBytes; at += 512) {
        if (at + 512 <= Chunk::kBytes || at + warp_.lane * 16 < Chunk::kBytes) {
          CopyAsync<16>(to + at, from_ + at, true);
        }
      }
      Advance();
    }
    CopyCommit();
  }
  AICF_DEVICE void Advance() {
    --left_;
    from_ += kAlongK * Chunk::kBytes;
    if (++step_ < steps_) return;
    step_ = 0;
    from_ += (static_cast<i64>(kPanelsAtOnce) * kChunks - steps_ * kAlongK) * Chunk::kBytes;
  }

  const Warp& warp_;
  int steps_, left_, step_ = 0;
  const char* from_;
  char *stage_, *free_;
};

}  // namespace aicf

// The headers below use Warp and the constants above.
#include "blockgemm/integer_rows.cuh"
#include "blockgemm/results.cuh"
#include "blockgemm/staged_rows.cuh"

namespace aicf {

typedef Either<kIntegers != 0, IntegerRows, StagedRows>::T Rows;
typedef Either<kIntegers != 0, PanelIntegers, PanelSums>::T Panel;

constexpr int kRingAt = Rows::kBytes;
constexpr int kCellsAt = kRingAt + kWarps * kRingBytes;
/// Turns whose sums are kept: those of a batch, and of the next one, which may begin while other
/// threads still read these.
constexpr int kCellTurns = kTurns <= kBatch ? kTurns : 2 * kBatch;
static_assert(kDynamicShared >= kCellsAt + kCellTurns * kWarps * kCellsBytes,
              "the launch has the memory");
AICF_DEVICE char* RingOf(int warp) { return DynamicShared() + kRingAt + warp * kRingBytes; }
AICF_DEVICE float* CellsOf(int turn, int warp) {
  return reinterpret_cast<float*>(DynamicShared() + kCellsAt +
                                  (turn % kCellTurns * kWarps + warp) * kCellsBytes);
}

struct ScaledSum {
  static AICF_DEVICE float Of(const Warp& warp, index_t turn, const Cell& cell, int half) {
    const float total = TotalOf(warp, turn, cell, half, static_cast<int>(cell.m));
    if constexpr (kIntegers == 0) return total * kUnit;
    return kNormalizesRows ? total * IntegerRows::Factor() : total;
  }
};

AICF_DEVICE void Kernel(const Args& args) {
  const Warp warp;
  Ring ring(warp, args.in[1]);
  constexpr int kFirst = kStages - 1;  // stages that are filled at first
  // Of these, how many are asked for before the wait. What is asked for earlier is delivered
  // earlier, the rows of A as well, which everything else has to wait for.
  constexpr int kBefore = kAhead == 0 ? 0 : kEarly == 0 ? kFirst : MinOf(kEarly, kFirst);
  Rows rows(args, warp);
  if constexpr (kAhead != 0) {
    ring.Start(0, kBefore);
    rows.HoldGain();
  }
  WaitForPredecessors();
  LetSuccessorsStart();
  if constexpr (kAhead == 0) rows.HoldGain();
  rows.Bring([&] { ring.Start(kBefore, kFirst); });
  typedef Finish<ScaledSum, MinOf(kBatch, kTurns)> Results;
  const Results finish{warp};
  const int turns = warp.Turns(), steps = warp.Steps();
#pragma unroll 1
  for (int first = 0; first < kTurns; first += kBatch) {
    Results::Held held;
    finish.Load(args, first, held);
#pragma unroll 1
    for (int turn = first; turn < MinOf(first + kBatch, turns); ++turn) {
      Panel sums(warp.lane);
      for (int step = 0; step < steps; ++step) sums.AddChunk(ring.Next(), rows.Chunk(step));
      sums.Store(warp.Cells(turn, warp.number));
    }
    AfterStoring();
    finish.Store(args, first, held);
  }
  // A block must not exit while other blocks of its cluster may still read its shared memory.
  if constexpr (kParts > 1) LeaveCluster();
}

}  // namespace aicf
