// cuda.blockgemm.stream: the product of one row of integers (blockgemm/integer_rows.cuh) and B in
// packed form (blockgemm/packed.h), whose panels stream through shared memory. It is to
// cuda.blockgemm.decode what cuda.gemm.stream is to cuda.gemm.gemv. A block is meant to have a
// multiprocessor for itself. One warp of it, the producer, asks the copy engine for stages, which
// are kWarps neighbouring chunks of one panel. As many warps multiply one chunk of each stage, with
// the parts of the row that each has brought for itself. When they have all of a panel, they leave
// their sums to one more warp, which adds them in a fixed order and stores the results.
//
// In a chain of such products whose launches are programmatic, with kAhead, the memory hardly
// rests: a block fills its ring while it waits for the row. No more than kFlight stages are on
// their way at a time, because the row would otherwise arrive after all of them.
//
// The instance defines, beside what compiler/codegen/cuda_source.h lists,
//   kWarps     warps that multiply, at least 2: warp w has chunks w, w + kWarps, ... of a panel
//   kStages    stages of the ring
//   kFlight    stages that may be on their way, at most kStages
//   kAhead     1: B, and the gain of a norm, are what no step writes; both are read before the wait
//              for the preceding kernel
//
// Illegal, and for the host to refuse: what BlockDecodeHost refuses; more than one row; a row that
// does not become integers; more than 2^16 blocks, so that 32-bit indices have room for the panels.
// Dynamic shared memory: PanelRing::kBytes.
#pragma once

#include "common/block.cuh"
#include "common/blocks.cuh"
#include "common/mbarrier.cuh"
#include "common/tma.cuh"

#define AICF_KERNEL_WAITS

namespace aicf {
constexpr int kIntegers = 1, kApart = 1, kAlongK = kWarps;
}

#include "blockgemm/panel_sums.cuh"

namespace aicf {

static_assert(kClusterX == 1, "blocks share no panel");
static_assert(kWarps >= 2 && kBlockX == 32 * (kWarps + 2), "a producer and a finisher beside them");
static_assert(kFlight <= kStages, "a barrier tells its current phase from the last one alone");
static_assert(kProductHalves == 1 || kColumns % 16 == 0, "a half is whole panels");

/// The stages of a panel, which are also the most chunks that a warp has of it.
constexpr int kMostSteps = static_cast<int>((kChunks - 1) / kWarps) + 1;

/// A warp that multiplies, as blockgemm/integer_rows.cuh wants to know it.
struct Warp {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int number = static_cast<int>(threadIdx.x) / 32;

  AICF_DEVICE index_t Chunk0() const { return 0; }
  AICF_DEVICE int FirstChunk() const { return number; }
};

}  // namespace aicf

// It uses Warp and the constants above.
#include "blockgemm/integer_rows.cuh"

namespace aicf {

/// The block's shared memory: the row, the stages, places for the sums of kPlaces panels, and the
/// barriers.
struct PanelRing {
  static constexpr int kStageBytes = kWarps * Chunk::kBytes;
  /// Panels whose sums may wait to be read.
  static constexpr int kPlaces = 2 * kProductHalves;
  static constexpr int kSumsOfPlace = 16 * kWarps;
  static constexpr int kSumsAt = IntegerRows::kBytes + kStages * kStageBytes;
  static constexpr int kBarriersAt = kSumsAt + kPlaces * kSumsOfPlace * 4;
  static constexpr int kBytes = kBarriersAt + 8 * 2 * (kStages + kPlaces);
  static_assert(kDynamicShared >= kBytes, "the launch has the memory");
  static_assert(kStageBytes < 1 << 20, "a barrier counts fewer bytes");

  char* memory = DynamicShared();

  AICF_DEVICE char* Stage(int stage) const {
    return memory + IntegerRows::kBytes + stage * kStageBytes;
  }
  /// Sums of a panel's 16 rows by one of the warps.
  AICF_DEVICE float* Sums(int place, int warp) const {
    return reinterpret_cast<float*>(memory + kSumsAt) + place * kSumsOfPlace + warp * 16;
  }
  /// The stage's chunks have arrived.
  AICF_DEVICE unsigned Full(int stage) const { return Barrier(stage); }
  /// Every warp has multiplied its own, and the stage may be filled again.
  AICF_DEVICE unsigned Free(int stage) const { return Barrier(kStages + stage); }
  /// Every lane that has sums of the panel has put them.
  AICF_DEVICE unsigned Summed(int place) const { return Barrier(2 * kStages + place); }
  /// Every lane that reads them has done so, and the place may be used again.
  AICF_DEVICE unsigned Read(int place) const { return Barrier(2 * kStages + kPlaces + place); }

  AICF_DEVICE void InitBarriers() const {
    for (int stage = 0; stage < kStages; ++stage) {
      BarrierInit(Full(stage), 1);
      BarrierInit(Free(stage), kWarps);
    }
    for (int place = 0; place < kPlaces; ++place) {
      BarrierInit(Summed(place), PanelIntegers::kStorers * kWarps);
      BarrierInit(Read(place), 32);
    }
    BarrierInitFence();
  }

 private:
  AICF_DEVICE unsigned Barrier(int i) const { return SharedAddress(memory + kBarriersAt + 8 * i); }
};

/// One of kCount things in shared memory that are used in turn, and the parity of its barriers.
template <int kCount>
struct InTurn {
  int place = 0;
  unsigned parity = 0;

  AICF_DEVICE void Advance() {
    if (++place < kCount) return;
    place = 0;
    parity ^= 1;
  }
};

/// Calls f(panel, half) for the block's panels of results, in a product of two halves for the first
/// half's panel of B and then for the second's.
template <class F>
AICF_DEVICE void ForEachPanel(const F& f) {
#pragma unroll 1
  for (index_t panel = blockIdx.x; panel < kPanels; panel += kGridX) {
#pragma unroll 1
    for (int half = 0; half < kProductHalves; ++half) f(panel, half);
  }
}

/// The producer's one thread.
AICF_DEVICE void AskForPanels(const Args& args, const PanelRing& ring) {
  if (kAhead == 0) WaitForPredecessors();
  const u64 policy = ReadOncePolicy();
  InTurn<kStages> stage, behind;
  int asked = 0;
  ForEachPanel([&](index_t panel, int half) {
    const char* from = ChunkAt(args.in[1], panel + half * kPanels, 0);
#pragma unroll 1
    for (int first = 0; first < kChunks; first += kWarps, stage.Advance()) {
      BarrierWait(ring.Free(stage.place), stage.parity ^ 1);
      if (asked < kFlight) {
        ++asked;
      } else {
        BarrierWait(ring.Full(behind.place), behind.parity);
        behind.Advance();
      }
      const int bytes = MinOf(kWarps, static_cast<int>(kChunks) - first) * Chunk::kBytes;
      BarrierArriveExpect(ring.Full(stage.place), bytes);
      CopyLine(SharedAddress(ring.Stage(stage.place)), from, bytes, ring.Full(stage.place), policy);
      from += bytes;
    }
  });
}

/// A warp that multiplies: its sums of all panels of the block.
AICF_DEVICE void SumPanels(const PanelRing& ring, const Warp& warp, const IntegerRows& row) {
  InTurn<kStages> stage;
  InTurn<PanelRing::kPlaces> sums_of;
  ForEachPanel([&](index_t, int) {
    PanelIntegers sums(warp.lane);
#pragma unroll 1
    for (int step = 0; step < kMostSteps; ++step, stage.Advance()) {
      BarrierWait(ring.Full(stage.place), stage.parity);
      if (kChunks % kWarps == 0 || warp.number + step * kWarps < kChunks) {
        sums.AddChunk(ring.Stage(stage.place) + warp.number * Chunk::kBytes, row.Chunk(step));
      }
      __syncwarp();  // every lane has read its part of the stage
      if (warp.lane == 0) BarrierArrive(ring.Free(stage.place));
    }
    BarrierWait(ring.Read(sums_of.place), sums_of.parity ^ 1);
    sums.Store(ring.Sums(sums_of.place, warp.number));
    if (PanelIntegers::Stores(warp.lane)) BarrierArrive(ring.Summed(sums_of.place));
    sums_of.Advance();
  });
}

/// The warp that finishes panels. Two lanes have a row of the panel; each adds up the sums of every
/// other warp. What the epilogue reads beside the sums is loaded before they are there.
AICF_DEVICE void FinishPanels(const Args& args, const PanelRing& ring) {
  const int lane = static_cast<int>(threadIdx.x) % 32, row = lane % 16;
  InTurn<PanelRing::kPlaces> sums_of;
  WaitForPredecessors();
#pragma unroll 1
  for (index_t panel = blockIdx.x; panel < kPanels; panel += kGridX) {
    const index_t n = panel * 16 + row;
    const index_t i0 = kRowsInner ? 0 : n, i1 = kRowsInner ? n : 0;
    const bool stores = lane < 16 && n < kColumns;
    Epilogue::Operands<1> held;
    if (stores) held.Load(args, i0, i1, 0);
    raw_t raw[kProductHalves];
#pragma unroll
    for (int half = 0; half < kProductHalves; ++half) {
      BarrierWait(ring.Summed(sums_of.place), sums_of.parity);
      float sum = 0.0f;
#pragma unroll
      for (int w = 0; w < kWarps; w += 2) {
        const int own = w + lane / 16;
        if (own < kWarps) sum = sum + ring.Sums(sums_of.place, own)[row];
      }
      BarrierArrive(ring.Read(sums_of.place));
      sums_of.Advance();
      sum = sum + ShuffleXor(sum, 16);
      // All warps have put their sums, so that the squares of the row are there, too.
      raw[half] = kNormalizesRows ? sum * IntegerRows::Factor() : sum;
    }
    if (stores) Epilogue::Store<1>(args, raw, held, i0, i1, 0);
  }
}

AICF_DEVICE void Kernel(const Args& args) {
  const PanelRing ring;
  if (threadIdx.x == 0) {
    ring.InitBarriers();
    LetSuccessorsStart();
  }
  __syncthreads();
  const Warp warp;
  if (warp.number == kWarps) {
    if (warp.lane == 0) AskForPanels(args, ring);
    WaitForPredecessors();
  } else if (warp.number == kWarps + 1) {
    FinishPanels(args, ring);
  } else {
    IntegerRows row(args, warp);
    if constexpr (kAhead != 0) row.HoldGain();
    WaitForPredecessors();
    if constexpr (kAhead == 0) row.HoldGain();
    row.Bring([] {});
    SumPanels(ring, warp, row);
  }
}

}  // namespace aicf
