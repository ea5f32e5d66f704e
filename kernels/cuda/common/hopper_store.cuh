// Hands the sums of a Hopper product to the epilogue. A warp transposes 16 rows of its sums, a few
// columns at a time, in 4 KB of shared memory of its own, so that every thread gets neighbours
// along the output's contiguous direction whichever way the tensor cores' rows run. The epilogue's
// expression appears once in the code, however many sums a thread has, except where a block has one
// tile of few runs. The operands of the expression are asked for before they are needed:
// common/hopper_runs.cuh. Blocks that share the k of a tile do the same with the sums of all of
// them: common/hopper_split.cuh.
#pragma once

#include "common/hopper_runs.cuh"

namespace aicf {

/// Run i of the results of one part that this thread stores: a place within the part.
struct WarpRun {
  static constexpr int kLineRuns = kStoreInner / kRun;
  static constexpr int kLanes = MinOf(32, kLineRuns);  // lanes that store runs of the same line
  static constexpr int kLines = 32 / kLanes;           // lines that the warp stores at a time
  static constexpr int kTurns = kLineRuns / kLanes;    // turns that these lanes take along a line
  static constexpr int kAll = ((kStoreOuter - 1) / kLines + 1) * kTurns;
  static constexpr int kCount = (kAll - 1) / kStoreHalves + 1;  ///< runs of a thread
  static constexpr bool kOneInner = kTurns == 1;                ///< a thread's runs share `inner`
  static constexpr bool kAllValid = kStoreOuter % kLines == 0 && kAll % kStoreHalves == 0;
  static constexpr bool kPairLines = kColumnsInner && kStoreInner == 32 && kLanes == 4;

  int outer, inner;

  AICF_DEVICE explicit WarpRun(int i) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int line = kPairLines ? lane / 8 + lane / 4 % 2 * 4 : lane / kLanes;
    i += StoreHalf() * kCount;
    outer = i / kTurns * kLines + line;
    inner = (i % kTurns * kLanes + lane % kLanes) * kRun;
  }
  AICF_DEVICE bool Valid() const { return outer < kStoreOuter; }
};

/// Where the epilogue sees moments, puts those of the rows (of m) of a run's results into `raw`
/// behind the run's sums. A run has results of one row or, where the output is contiguous along m,
/// of several. `row` is the row within the part's 64 rows of the tensor cores from which the run
/// counts.
template <class Run>
AICF_DEVICE void LoadMoments(const float* moments, int part, int row, const Run& run,
                             raw_t (&raw)[kRaws * kRun]) {
  if constexpr (Moments::kSeen) {
    const int first = kSwap ? part % kStoreParts * kPartColumns : part / kStoreParts * 64 + row;
#pragma unroll
    for (int j = 0; j < kRun; ++j) {
      const int at = first + (kRowsInner ? run.inner + j : run.outer);
      const auto pair = *reinterpret_cast<const Pack<float, 2>*>(moments + 2 * at);
      raw[kProductHalves * kRun + j] = pair.v[0];
      raw[(kProductHalves + 1) * kRun + j] = pair.v[1];
    }
  }
}

/// Whether the operands that the epilogue reads line by line, such as a residual, come from memory:
/// they are then larger than half of the L2 cache (50 MB), whose other half this step's own
/// operands and results take. Smaller ones are still in the cache since the step that wrote them.
template <class OfLine>
constexpr bool kIsFar = !OfLine::kEmpty && static_cast<i64>(kOutputCount0) * kOutputCount1 *
                                                   kOutputCount2 * OfLine::kWidest >
                                               (i64{24} << 20);

/// Stores the results of a warpgroup whose sums are those of all of k. Every warp transposes its
/// own sums.
struct WarpStore {
  typedef RunStore<WarpRun, Sums::kParts> Runs;
  static constexpr int kUnrolledParts = Runs::kUnrolledParts;

  sum_t* memory;         ///< the warp's
  int row;               ///< the warp's first of 64 rows
  const float* moments;  ///< of the warpgroup's rows, where the epilogue sees them
  Runs runs;

  /// All memories are the warpgroup's.
  AICF_DEVICE WarpStore(sum_t* group_memory, const float* group_moments, float* group_parts)
      : moments(group_moments) {
    runs.parts = group_parts;
    const int warp = static_cast<int>(threadIdx.x) / 32 % 4;
    memory = group_memory + warp * kWarpStoreSums;
    row = warp * kStageRows;
  }
  /// Asks for the operands of a tile's first parts, before its sums are there. Store does not ask
  /// for those of the next tile, because a loop that carries such values over waits for them.
  AICF_DEVICE void Ask(const Args& args, const TileWalk& tile, int row0) {
    runs.Ask(args, [&](int part) { return PartPlace(part, tile, row0, row); });
  }
  /// Asks for the sectors of a later tile's operands where these come from memory, so that Ask
  /// finds them in the L2 cache. The loads that a multiprocessor's warps can have under way at a
  /// time are too few to keep memory busy.
  AICF_DEVICE void Prefetch(const Args& args, const TileWalk& tile, int row0) const {
    typedef Epilogue::OfLine<kRun> OfLine;
    if constexpr (kIsFar<OfLine>) {
      constexpr int kSector = MaxOf(1, 32 / OfLine::kWidest);
      constexpr int kOfLine = (kStoreInner - 1) / kSector + 1;
      const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll 1
      for (int part = 0; part < Sums::kParts; ++part) {
        const PartPlace place(part, tile, row0, row);
#pragma unroll
        for (int i = lane; i < kStoreOuter * kOfLine; i += 32) {
          const index_t line = tile.LineOf(place.outer0 + i / kOfLine);
          const index_t inner = place.inner0 + i % kOfLine * kSector;
          if (line >= 0 && inner < kInnerEnd) OfLine::Prefetch(args, inner, line, tile.batch);
        }
      }
    }
  }
  AICF_DEVICE void Store(const Args& args, const Sums& sums, const TileWalk& tile, int row0) {
#pragma unroll(kUnrolledParts)
    for (int part = 0; part < Sums::kParts; ++part) {
      if (!kHelped || part > 0) MeetHelper();
      sums.WithPart(part, [&](const PartSums& own) {
        PutPart(memory, static_cast<int>(threadIdx.x) % 32, own);
      });
      StoreHalfOf(args, part, tile, row0);
    }
  }
  /// What a warp of the producer does meanwhile. It has asked for its operands before (Ask).
  AICF_DEVICE void Help(const Args& args, const TileWalk& tile) {
#pragma unroll(kUnrolledParts)
    for (int part = 0; part < Sums::kParts; ++part) {
      if (part > 0) MeetHelper();
      StoreHalfOf(args, part, tile, 0);
    }
  }

 private:
  /// Stores the thread's half of a part, all of it without helpers, when the part is in the warp's
  /// memory.
  AICF_DEVICE void StoreHalfOf(const Args& args, int part, const TileWalk& tile, int row0) {
    MeetHelper();
    runs.StorePart(
        args, part, [&](int p) { return PartPlace(p, tile, row0, row); },
        [&](const WarpRun& run, raw_t(&raw)[kRaws * kRun]) {
          LoadRun(run, raw);
          LoadMoments(moments, part, row, run, raw);
        });
    if constexpr (Parts::kStored) JoinParts(args, PartPlace(part, tile, row0, 0));
  }
  AICF_DEVICE void JoinParts(const Args& args, const PartPlace& place) const {
    const auto line_of = [&](int line) -> index_t {
      return place.inner0 < kInnerEnd ? place.tile.LineOf(place.outer0 + line) : -1;
    };
    Parts::Join(args, kHelped ? 0 : static_cast<int>(threadIdx.x) / 128, place.inner0, line_of,
                place.tile.batch, runs.parts);
  }
  AICF_DEVICE void LoadRun(const WarpRun& run, raw_t (&raw)[kRaws * kRun]) const {
    constexpr int kPiece = MinOf(kRun, 4);
#pragma unroll
    for (int half = 0; half < kProductHalves; ++half) {
#pragma unroll
      for (int j = 0; j < kRun; j += kPiece) {
        const sum_t* from = memory + StorePlace(run.outer, half * kStoreInner + run.inner + j);
        const auto piece = *reinterpret_cast<const Pack<sum_t, kPiece>*>(from);
#pragma unroll
        for (int k = 0; k < kPiece; ++k) raw[half * kRun + j + k] = piece.v[k];
      }
    }
  }
};

}  // namespace aicf
