// cuda.gemm.stream: products with one row, whose weights stream through shared memory. A block is
// meant to have a multiprocessor for itself. One warp of it, the producer, asks the copy engine for
// whole columns of B, which are contiguous along k; groups of warps multiply them with the row,
// which lies in their registers; and one more warp finishes the columns. A stage has the columns
// that are copied together, and the block's shared memory is a ring of stages.
//
// In a chain of such products whose launches are programmatic, with kAhead, the memory hardly
// rests. A block starts as soon as the block of the product before it has left the multiprocessor,
// which is before all of that product has ended, and fills its ring while it waits for the row. No
// more than kFlight stages are on their way at a time: more would let some multiprocessors have
// theirs much earlier than others.
//
// The instance defines, beside what compiler/codegen/cuda_source.h lists,
//   kColumns  columns of results of a stage; in a product of two halves each is a column of both
//   kStages   stages of the ring, a multiple of kGroups: so a stage is always the same group's
//   kFlight   stages that may be on their way, at most kStages
//   kGroups   groups of warps, which take stages in turn
//   kWarps    warps of a group, which divide k
//   kAhead    1: B, and the gain of a norm, are what no step writes; both are read before the wait
//             for the preceding kernel
//
// Illegal, and for the host to refuse: operands other than f32, f16 and bf16; more than one row or
// one batch, and empty products; columns that are not contiguous along k, or whose addresses or
// bytes are no multiples of 16; more than kMostHeld elements of the row for a lane; more than 2^30
// columns or 2^16 blocks, so that 32-bit indices have room for the stages that a block looks ahead.
// Grid: any number of blocks. Dynamic shared memory: StreamRing::kBytes.
#pragma once

#include "common/block.cuh"
#include "common/mbarrier.cuh"
#include "common/tma.cuh"

namespace aicf {
constexpr int kPiece = 16 / static_cast<int>(sizeof(In1::S));
}

#include "gemm/column.cuh"
#include "gemm/gained.cuh"

#define AICF_KERNEL_WAITS

namespace aicf {
static_assert(kBlockX == 32, "x is a warp");
static_assert(kBlockY == kWarps * kGroups + 2, "a producer and a finisher beside the groups");
static_assert(kStages % kGroups == 0, "a stage is always the same group's");
static_assert(kFlight <= kStages, "a barrier tells its current phase from the last one alone");
static_assert(kColumns <= 32, "a lane finishes a column");

/// A group's elements along k in one step, and the steps of a column.
constexpr index_t kStep = 32 * kPiece * kWarps;
constexpr int kSteps = static_cast<int>((kLength - 1) / kStep) + 1;
constexpr bool kWholeSteps = kLength % kStep == 0;
constexpr int kMostHeld = 64;
static_assert(kSteps * kPiece <= kMostHeld, "the row lies in registers");

constexpr int kLines = kColumns * kProductHalves;
constexpr int kLineBytes = static_cast<int>(kLength * static_cast<index_t>(sizeof(In1::S)));

/// The block's shared memory: the stages, each warp's sums of every line of every stage, the sums
/// of squares of a normalised row, and three barriers for each stage.
struct StreamRing {
  static constexpr int kStageBytes = kLines * kLineBytes;
  static constexpr int kSums = kStages * kLines * kWarps;
  static constexpr int kSquares = kNormalizesRows ? kWarps : 0;
  static constexpr int kFloatBytes = (kSums + kSquares + 1) / 2 * 8;
  static constexpr int kBytes = kStages * kStageBytes + kFloatBytes + 3 * 8 * kStages;
  static_assert(kDynamicShared >= kBytes, "the ring needs its memory");
  static_assert(kStageBytes < 1 << 20, "a barrier counts fewer bytes");

  char* memory = DynamicShared();

  AICF_DEVICE char* Line(int stage, int line) const {
    return memory + stage * kStageBytes + line * kLineBytes;
  }
  AICF_DEVICE float* Sums(int stage, int line) const {
    return Floats() + (stage * kLines + line) * kWarps;
  }
  AICF_DEVICE float* Squares() const { return Floats() + kSums; }
  /// The stage's columns have arrived.
  AICF_DEVICE unsigned Full(int stage) const { return Barrier(stage); }
  /// Every warp of the group has put its sums of them.
  AICF_DEVICE unsigned Summed(int stage) const { return Barrier(kStages + stage); }
  /// The sums have been read too, and the stage may be filled again.
  AICF_DEVICE unsigned Free(int stage) const { return Barrier(2 * kStages + stage); }

  AICF_DEVICE void InitBarriers() const {
    for (int stage = 0; stage < kStages; ++stage) {
      BarrierInit(Full(stage), 1);
      BarrierInit(Summed(stage), kWarps);
      BarrierInit(Free(stage), 1);
    }
    BarrierInitFence();
  }

 private:
  AICF_DEVICE float* Floats() const {
    return reinterpret_cast<float*>(memory + kStages * kStageBytes);
  }
  AICF_DEVICE unsigned Barrier(int i) const {
    return SharedAddress(memory + kStages * kStageBytes + kFloatBytes + 8 * i);
  }
};

/// One of the stages that a block fills one after the other: it comes after `turn` others. With its
/// place in the ring and the parity of that place's barriers.
struct StreamStage {
  int turn = 0, place = 0;
  unsigned parity = 0;

  AICF_DEVICE explicit StreamStage(int first = 0) : turn(first), place(first) {}
  /// The first column of the block's stage of this turn.
  static AICF_DEVICE index_t ColumnOf(int turn) {
    return (static_cast<index_t>(blockIdx.x) + static_cast<index_t>(turn) * kGridX) * kColumns;
  }
  AICF_DEVICE index_t column() const { return ColumnOf(turn); }
  AICF_DEVICE bool Valid() const { return column() < kN; }
  AICF_DEVICE void Advance(int turns) {
    turn += turns;
    place += turns;
    if (place >= kStages) {
      place -= kStages;
      parity ^= 1;
    }
  }
};

/// The producer's one thread.
AICF_DEVICE void AskForColumns(const Args& args, const StreamRing& ring) {
  if (kAhead == 0) WaitForPredecessors();
  const In1::S* b = static_cast<const In1::S*>(args.in[1]) + In1::kOffset;
  constexpr bool kDense = In1::stride(kAxisN) == kLength;
  const u64 policy = ReadOncePolicy();
  StreamStage behind;
  for (StreamStage stage; stage.Valid(); stage.Advance(1)) {
    BarrierWait(ring.Free(stage.place), stage.parity ^ 1);
    if (stage.turn >= kFlight) {
      BarrierWait(ring.Full(behind.place), behind.parity);
      behind.Advance(1);
    }
    const index_t n = stage.column();
    const int columns = kN - n < kColumns ? static_cast<int>(kN - n) : kColumns;
    const unsigned full = ring.Full(stage.place);
    BarrierArriveExpect(full, columns * kProductHalves * kLineBytes);
    for (int h = 0; h < kProductHalves; ++h) {
      for (int c = 0; c < columns; c += kDense ? columns : 1) {
        CopyLine(SharedAddress(ring.Line(stage.place, h * kColumns + c)),
                 b + (n + c + h * kN) * In1::stride(kAxisN), (kDense ? columns : 1) * kLineBytes,
                 full, policy);
      }
    }
  }
}

/// What a lane of a group has of the row: kPiece elements of every step.
struct RowInRegisters {
  float x[kSteps][kPiece];

  static AICF_DEVICE index_t At(int step) {
    const int lane = threadIdx.x + static_cast<int>(threadIdx.y) % kWarps * 32;
    return step * kStep + lane * kPiece;
  }
  static AICF_DEVICE bool Has(int step) { return kWholeSteps || At(step) < kLength; }

  /// Waits for the preceding kernel and loads the row, times the gain where rows are normalised.
  /// The warps of the first group put their sums of squares into `squares`.
  AICF_DEVICE RowInRegisters(const RowSource<In0>& a, const RowSource<GainView>& gain,
                             float* squares) {
    float gains[kHoldsGain ? kSteps : 1][kPiece];
    if constexpr (kHoldsGain) LoadGains(gain, gains);
    WaitForPredecessors();
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      if (Has(step)) a.Load(0, At(step), x[step]);
    }
    if constexpr (kNormalizesRows) Multiply(gain, gains, squares);
  }

 private:
  /// Whether the gain is loaded before the wait, into registers beside those for the row.
  static constexpr bool kHoldsGain =
      kNormalizesRows && kAhead != 0 && kSteps * kPiece <= kMostHeld / 2;

  static AICF_DEVICE void LoadGains(const RowSource<GainView>& gain, float (*gains)[kPiece]) {
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      if (Has(step)) gain.Load(0, At(step), gains[step]);
    }
  }
  AICF_DEVICE void Multiply(const RowSource<GainView>& gain, float (*gains)[kPiece],
                            float* squares) {
    float sum = 0;
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      if (!Has(step)) continue;
      float(&g)[kPiece] = gains[kHoldsGain ? step : 0];
      if constexpr (!kHoldsGain) gain.Load(0, At(step), g);
#pragma unroll
      for (int j = 0; j < kPiece; ++j) {
        sum = fmaf(x[step][j], x[step][j], sum);
        x[step][j] = Widen(Narrow<gained_t>::Of(x[step][j] * g[j]));
      }
    }
#pragma unroll
    for (int s = 16; s > 0; s /= 2) sum = sum + ShuffleXor(sum, s);
    if (threadIdx.x == 0 && threadIdx.y < kWarps) squares[threadIdx.y] = sum;
  }
};

/// The sum of one line over the lane's part of k, in two parts, so that additions wait less for
/// each other.
AICF_DEVICE float SumOfLine(const char* line, const RowInRegisters& row) {
  typedef Pack<In1::S, kPiece> Piece;
  Piece y[kSteps];
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    if (!RowInRegisters::Has(step)) continue;
    const char* from = line + RowInRegisters::At(step) * static_cast<int>(sizeof(In1::S));
    y[step] = *reinterpret_cast<const Piece*>(from);
  }
  float even = 0, odd = 0;
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    if (!RowInRegisters::Has(step)) continue;
#pragma unroll
    for (int j = 0; j < kPiece; j += 2) {
      even = fmaf(row.x[step][j], Widen(y[step].v[j]), even);
      odd = fmaf(row.x[step][j + 1], Widen(y[step].v[j + 1]), odd);
    }
  }
  return even + odd;
}

/// A warp of a group: its sums of every line of the group's stages.
AICF_DEVICE void SumStages(const StreamRing& ring, const RowInRegisters& row, int group) {
  const int warp = static_cast<int>(threadIdx.y) % kWarps;
  for (StreamStage stage(group); stage.Valid(); stage.Advance(kGroups)) {
    BarrierWait(ring.Full(stage.place), stage.parity);
    float sum[kLines];
#pragma unroll
    for (int line = 0; line < kLines; ++line) {
      sum[line] = SumOfLine(ring.Line(stage.place, line), row);
    }
#pragma unroll
    for (int s = 16; s > 0; s /= 2) {
#pragma unroll
      for (int line = 0; line < kLines; ++line) sum[line] = sum[line] + ShuffleXor(sum[line], s);
    }
    __syncwarp();  // every lane has read its part of the stage
    if (threadIdx.x == 0) {
#pragma unroll
      for (int line = 0; line < kLines; ++line) ring.Sums(stage.place, line)[warp] = sum[line];
      BarrierArrive(ring.Summed(stage.place));
    }
  }
}

AICF_DEVICE float TotalOf(const float* sums) {
  float total = sums[0];
#pragma unroll
  for (int w = 1; w < kWarps; ++w) total = total + sums[w];
  return total;
}

/// The warp that finishes columns. Its lanes have one column each, of as many stages that follow
/// each other as there are lanes for. What the epilogue reads beside the sums they load all at
/// once, since a load may take longer than a stage. When a stage is summed, its lanes add the sums
/// of the warps in their order, and store the results. The first stage is the first group's, so
/// that its arrival says that the squares are there, too.
AICF_DEVICE void FinishColumns(const Args& args, const StreamRing& ring) {
  constexpr int kTogether = 32 / kColumns;
  const int own = static_cast<int>(threadIdx.x) / kColumns, c = threadIdx.x % kColumns;
  WaitForPredecessors();
  StreamStage stage;
  while (stage.Valid()) {
    const index_t n = StreamStage::ColumnOf(stage.turn + own) + c;
    const bool valid = own < kTogether && n < kN;
    Column column(n, 0);
    if (valid) column.Load(args);
    for (int i = 0; i < kTogether && stage.Valid(); ++i, stage.Advance(1)) {
      BarrierWait(ring.Summed(stage.place), stage.parity);
      if (valid && own == i) {
        float sum[kProductHalves][kM];
#pragma unroll
        for (int h = 0; h < kProductHalves; ++h) {
          sum[h][0] = TotalOf(ring.Sums(stage.place, h * kColumns + c));
          if constexpr (kNormalizesRows) sum[h][0] *= NormFactor(TotalOf(ring.Squares()));
        }
        column.Store(args, sum);
      }
      __syncwarp();
      if (threadIdx.x == 0) BarrierArrive(ring.Free(stage.place));
    }
  }
}

AICF_DEVICE void Kernel(const Args& args) {
  const StreamRing ring;
  if (ThreadInBlock() == 0) {
    ring.InitBarriers();
    LetSuccessorsStart();
  }
  __syncthreads();
  const int group = static_cast<int>(threadIdx.y) / kWarps;
  if (threadIdx.y == kWarps * kGroups) {
    if (threadIdx.x == 0) AskForColumns(args, ring);
    WaitForPredecessors();
  } else if (threadIdx.y == kWarps * kGroups + 1) {
    FinishColumns(args, ring);
  } else {
    const Point point = OutputPoint(0, 0, 0);
    const RowInRegisters row(RowSource<In0>(args.in[0], point),
                             RowSource<GainView>(args.in[kGainInput], point), ring.Squares());
    SumStages(ring, row, group);
  }
}

}  // namespace aicf
