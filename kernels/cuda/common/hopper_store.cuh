// The sums of a Hopper product to the epilogue. A warp turns 16 rows of its sums,
// a few columns at a time, in 4 KB of shared memory of its own, so that every thread gets
// neighbours along the output's contiguous direction whichever way the tensor cores' rows run. The
// expression appears once in the code, however many sums a thread has. Its operands for the next
// part are asked for as soon as those of this one are used. Blocks that share the k of a tile do
// the same with the sums of all of them: common/hopper_split.cuh.
//
// Of a product of two halves (kProductHalves) a part has the sums of both halves for half as many
// results, and they lie side by side in a line of the memory: first those of the line's results in
// the first half, then those in the second.
#pragma once

#include "common/block.cuh"
#include "common/hopper_helpers.cuh"

namespace aicf {

constexpr int kStageRows = 16;
constexpr int kStageColumns = kColumns % 64 == 0   ? 64
                              : kColumns % 56 == 0 ? 56
                                                   : MinOf(32, kColumns);
static_assert(kColumns % kStageColumns == 0, "whole parts");
constexpr int kStoreParts = kColumns / kStageColumns;
constexpr int kWarpStoreSums = kStageRows * 64;
/// Inputs of the epilogue that are no operands: sums, then moments of the row.
constexpr int kRaws = kProductHalves + Moments::kRaws;
constexpr int kSumsOfThread = kBlocksOfRows * kColumns / 2;

/// Whether the output is contiguous along the tensor cores' columns.
constexpr bool kColumnsInner = kSwap == kRowsInner;
static_assert(!kColumnsInner || kStageColumns != 56, "a line of results is a power of two");
/// Sums of n, of which a result takes kProductHalves, along the tensor cores' rows and columns.
constexpr int kRowHalves = kSwap ? kProductHalves : 1, kColumnHalves = kSwap ? 1 : kProductHalves;
/// Results of a part, and of a line of it.
constexpr int kPartRows = kStageRows / kRowHalves;
constexpr int kPartColumns = kStageColumns / kColumnHalves;
constexpr int kStoreInner = kColumnsInner ? kPartColumns : kPartRows;
constexpr int kStoreOuter = kColumnsInner ? kPartRows : kPartColumns;
constexpr int kStoreLine = kProductHalves * kStoreInner;  ///< sums
static_assert(kPartColumns % 8 == 0, "halves are whole groups of columns");
static_assert(kRowHalves == 1 || TileB::kHalfRun == 8, "a warp's rows are of both halves");
static_assert(kColumnHalves == 1 || kColumns % (2 * TileB::kHalfRun) == 0, "whole pairs of runs");
constexpr index_t kInnerEnd = kOutputCount0;

/// Results per store; the output's inner direction is whole runs of them.
AICF_DEVICE constexpr int RunOfResults() {
  int run = MinOf(kVector, 8);
  while (kInnerEnd % run != 0) run /= 2;
  return run;
}
constexpr int kRun = RunOfResults();

/// One warpgroup's sums: kBlocksOfRows blocks of 64 rows.
struct Sums {
  static constexpr int kParts = kBlocksOfRows * kStoreParts;

  sum_t d[kBlocksOfRows][kColumns / 2];  // kSumsOfThread of them

  AICF_DEVICE void Hold() {
#pragma unroll
    for (int i = 0; i < kBlocksOfRows; ++i) {
#pragma unroll
      for (int j = 0; j < kColumns / 2; ++j) HoldSum(d[i][j]);
    }
  }
  /// Adds a part of block i, multiplied by its scales where it has some, and has added it before
  /// what follows in the code.
  template <class Scales>
  AICF_DEVICE void Add(int i, sum_t (&part)[kColumns / 2], const Scales& scales) {
#pragma unroll
    for (int j = 0; j < kColumns / 2; ++j) {
      HoldSum(part[j]);
      if constexpr (Scales::kFloats > 0)
        d[i][j] = fmaf(part[j], scales.Of(j), d[i][j]);
      else
        d[i][j] += part[j];
      HoldSum(d[i][j]);
    }
  }
  /// Calls put(the thread's sums of that part), a PartSums: no register has an index that is known
  /// only at run time.
  template <class Put>
  AICF_DEVICE void WithPart(int part, const Put& put) const;
};

/// The thread's sums of one part, kStageColumns / 2 of those of its 64 rows: in groups of eight
/// columns, each a pair of neighbours in a row and a pair eight rows below.
struct PartSums {
  const sum_t* first;  ///< of the part or, with halves along the columns, of the 64 rows
  int part;            ///< along the columns

  /// With halves along the columns the first half's groups come first.
  AICF_DEVICE const sum_t* Pair(int group, int below) const {
    constexpr int kGroups = kPartColumns / 8, kRunGroups = TileB::kHalfRun / 8;
    if constexpr (kColumnHalves > 1) {
      const int result = part * kGroups + group % kGroups, half = group / kGroups;
      group = (result / kRunGroups * 2 + half) * kRunGroups + result % kRunGroups;
    }
    return first + 4 * group + 2 * below;
  }
};

template <class Put>
AICF_DEVICE void Sums::WithPart(int part, const Put& put) const {
#pragma unroll
  for (int i = 0; i < kBlocksOfRows; ++i) {
#pragma unroll
    for (int p = 0; p < kStoreParts; ++p) {
      const int first = kColumnHalves > 1 ? 0 : p * (kStageColumns / 2);
      if (part == i * kStoreParts + p) put(PartSums{d[i] + first, p});
    }
  }
}

/// Where the first of such a pair of the thread belongs among the part's results.
struct PairPlace {
  int row, column, half;

  /// `warp` counts 16 rows of sums each.
  AICF_DEVICE PairPlace(int warp, int lane, int group, int below) {
    constexpr int kGroups = kPartColumns / 8;
    row = warp * kPartRows + lane / 4 + (kRowHalves > 1 ? 0 : below * 8);
    column = group % kGroups * 8 + lane % 4 * 2;
    half = kRowHalves > 1 ? below : group / kGroups;
  }
};

/// Place of a sum in the warp's memory; `inner` counts the sums of a line. The pattern moves whole
/// groups of four, and keeps both the fragments' stores and the runs' loads off each other's banks.
AICF_DEVICE int StorePlace(int outer, int inner) {
  const int pattern =
      kColumnsInner ? outer % 4 * 8 + (outer / 4 + inner / 32) % 2 * 4 : outer / 2 % 4 * 4;
  return outer * kStoreLine + (inner ^ (pattern & (kStoreLine - 1)));
}

/// Puts the thread's sums of one part into the warp's memory.
AICF_DEVICE void PutPart(sum_t* memory, int lane, const PartSums& sums) {
#pragma unroll
  for (int g = 0; g < kStageColumns / 8; ++g) {
#pragma unroll
    for (int below = 0; below < 2; ++below) {
      const PairPlace at(0, lane, g, below);
      const sum_t* pair = sums.Pair(g, below);
      const int half = at.half * kStoreInner;
      if constexpr (kColumnsInner) {
        *reinterpret_cast<Pack<sum_t, 2>*>(memory + StorePlace(at.row, half + at.column)) = {
            pair[0], pair[1]};
      } else {
        memory[StorePlace(at.column, half + at.row)] = pair[0];
        memory[StorePlace(at.column + 1, half + at.row)] = pair[1];
      }
    }
  }
}

/// Run i of the results of one part that this thread stores: a place within the part.
struct WarpRun {
  static constexpr int kLineRuns = kStoreInner / kRun;
  static constexpr int kLanes = MinOf(32, kLineRuns);  // of one line, at a time
  static constexpr int kLines = 32 / kLanes;           // at a time
  static constexpr int kTurns = kLineRuns / kLanes;    // along a line
  static constexpr int kAll = ((kStoreOuter - 1) / kLines + 1) * kTurns;
  static constexpr int kCount = (kAll - 1) / kStoreHalves + 1;  ///< of a thread
  static constexpr bool kOneInner = kTurns == 1;                ///< of all runs of a thread
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

/// Where a part of the sums lies: its first line, as the tile counts them (TileWalk::LineOf), and
/// its first element of a line in the output.
struct PartPlace {
  const TileWalk& tile;
  index_t outer0, inner0;

  /// Of a part of the warpgroup whose first sum is of row0 of the tile's rows; `row` is the first
  /// row of the part that counts. Both are rows of sums.
  AICF_DEVICE PartPlace(int part, const TileWalk& walk, int row0, int row) : tile(walk) {
    const index_t first_row = walk.FirstRow() + row0 / kRowHalves +
                              part / kStoreParts * (64 / kRowHalves) + row / kRowHalves;
    const index_t first_column = walk.FirstColumn() + part % kStoreParts * kPartColumns;
    outer0 = kColumnsInner ? first_row : first_column;
    inner0 = kColumnsInner ? first_column : first_row;
  }
  /// Whether no run is outside: then nothing keeps one run from being worked on beside the next.
  template <class Run>
  static constexpr bool kWhole = TileWalk::kWhole&& Run::kAllValid;

  /// The output's line of a run, below 0 where there is none.
  template <class Run>
  AICF_DEVICE index_t LineOf(const Run& run) const {
    if (!kWhole<Run> && (!run.Valid() || inner0 + run.inner >= kInnerEnd)) return -1;
    return tile.LineOf(outer0 + run.outer);
  }
  /// Whether the part may have results; the same for all lanes of a warp.
  AICF_DEVICE bool MayHaveResults() const {
    return TileWalk::kWhole || (inner0 < kInnerEnd && tile.MayHaveLines(outer0));
  }
};

/// Registers of a thread that its sums leave to the operands of results.
AICF_DEVICE constexpr int FreeRegisters() {
  // Blocks of one consumer with a thin producer share a multiprocessor by three.
  constexpr bool kShared = sizeof(tile_t) == 1 && kBlockX == 128 + 32;
  constexpr int kRegisters = kConsumers == 3 ? 160 : kShared ? 128 : 240;
  constexpr int kOthers = kConsumers == 3 ? 40 : 64;
  return MaxOf(kRegisters - kOthers - kSumsOfThread, 0);
}
/// Runs, of `all`, whose operands of so many bytes fit so many registers: a number that divides
/// all, 0 for none.
AICF_DEVICE constexpr int RunsHeld(int all, int bytes, int registers) {
  int runs = bytes == 0 ? (registers >= 0 ? all : 0) : MinOf(all, 4 * registers / bytes);
  while (runs > 0 && all % runs != 0) --runs;
  return MaxOf(runs, 0);
}

/// A thread's runs of parts to the epilogue, and what the expression reads beside the sums for
/// those that are stored next. Operands that are the same for all lines, such as factors and biases
/// of columns, are read once for all runs of a part where these begin at one place of their lines.
/// Operands that would take too many registers are read only when they are needed. Where a block
/// has one tile, operands of all its parts are asked for as early as registers allow, and parts
/// follow each other without a loop (kSpans): a part takes less time than what it reads needs to
/// arrive.
template <class Run, int kParts>
struct RunStore {
  typedef Epilogue::OfAllLines<kRun> OfAllLines;
  static constexpr int kCount = Run::kCount;
  static constexpr int kCommon = OfAllLines::kEmpty ? 0 : static_cast<int>(sizeof(OfAllLines)) / 4;
  static constexpr bool kSharesCommon = Run::kOneInner && kCommon > 0 && kCommon < FreeRegisters();
  typedef Epilogue::OfLine<kRun> OfLine;
  typedef typename Either<kSharesCommon, OfLine, Epilogue::Operands<kRun>>::T Operands;
  static constexpr int kOperandBytes =
      kSharesCommon && OfLine::kEmpty ? 0 : static_cast<int>(sizeof(Operands));

  /// Operands of columns change from part to part where a line has several.
  static constexpr int kAllCommons = kSharesCommon && kColumnsInner ? kParts : 1;
  static constexpr int kMostRuns = 24;  ///< that are written out one after the other
  static constexpr int kSpanned =
      RunsHeld(kParts * kCount, kOperandBytes,
               FreeRegisters() - (kSharesCommon ? kAllCommons * kCommon : 0));
  static constexpr bool kSpans =
      TileWalk::kOne && kParts > 1 &&
      kParts* kCount <= kMostRuns&& kInputs > kCoreInputs&& kSpanned > kCount;
  static constexpr int kCommons = kSpans ? kAllCommons : 1;
  /// Otherwise those of the next part are asked for when a part begins, if there is room for both,
  /// and else when it ends.
  static constexpr bool kTwoCommons = !kSpans && kAllCommons > 1 && 2 * kCommon < FreeRegisters();
  static constexpr int kHeldCommons = !kSharesCommon ? 0 : kTwoCommons ? 2 : kCommons;
  static constexpr int kHeld =
      kInputs <= kCoreInputs ? 0
      : kSpans               ? kSpanned
               : RunsHeld(kCount, kOperandBytes, FreeRegisters() - kHeldCommons * kCommon);
  static constexpr int kUnrolledParts = kSpans ? kParts : 1;
  static constexpr bool kWhole = PartPlace::kWhole<Run>;
  /// Whether a branch skips runs that are outside. Where blocks stay and are to get much done, such
  /// runs are computed for nothing instead, and what they read is what the first result reads, so
  /// that nothing keeps a thread's runs apart; all of them must lie in the tile's memory.
  static constexpr bool kSkips = !kWhole && (TileWalk::kOne || Parts::kStored || !Run::kAllValid);

  OfAllLines common[kCommons];
  Operands held[kHeld > 0 ? kHeld : 1];
  float* parts = nullptr;  ///< the warpgroup's memory for what Parts joins

  /// Asks for the operands of a tile's first runs. place_of(part) is the place of one.
  template <class PlaceOf>
  AICF_DEVICE void Ask(const Args& args, const PlaceOf& place_of) {
#pragma unroll
    for (int p = 0; p < kCommons; ++p) AskCommon(args, place_of(p), p);
#pragma unroll
    for (int r = 0; r < kHeld; ++r) AskRun(args, place_of(r / kCount), r);
  }
  /// Stores the part of whose runs load(run, sums) gives the sums; asks for the operands of the
  /// runs that come kHeld after each, in this part or in a later one where there is one.
  template <class PlaceOf, class Load>
  AICF_DEVICE void StorePart(const Args& args, int part, const PlaceOf& place_of,
                             const Load& load) {
    const auto place = place_of(part);
    const OfAllLines all = common[kCommons > 1 ? part : 0];
    if (kTwoCommons) AskNextCommon(args, part, place, place_of);
    if (IsWorthIt(place)) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        StoreRunOfPart(args, place, FirstRun(part) + i, all, load);
        AskBehind(args, part, i, place_of);
      }
    } else {
#pragma unroll
      for (int i = 0; i < kCount; ++i) AskBehind(args, part, i, place_of);
    }
    if (kCommons == 1 && !kTwoCommons) AskNextCommon(args, part, place, place_of);
  }

 private:
  /// Whether the part is stored as a whole, although some of it may be computed for nothing. Known
  /// to be the same in all lanes: otherwise what they exchange would have to meet them one by one.
  static AICF_DEVICE bool IsWorthIt(const PartPlace& place) {
    if constexpr (kWhole || kSkips) return true;
    return SameInWarp(place.MayHaveResults() ? 1 : 0) != 0;
  }
  /// Runs are counted from the first part on, those of one part from 0 on where parts are a loop.
  static AICF_DEVICE int FirstRun(int part) { return kSpans ? part * kCount : 0; }

  AICF_DEVICE void AskCommon(const Args& args, const PartPlace& place, int p) {
    if constexpr (kSharesCommon) {
      const index_t inner = place.inner0 + Run(0).inner;
      if (kSkips && inner >= kInnerEnd) return;
      common[p].Load(args, TileWalk::kWhole || inner < kInnerEnd ? inner : 0);
    }
  }
  template <class PlaceOf>
  AICF_DEVICE void AskNextCommon(const Args& args, int part, const PartPlace& place,
                                 const PlaceOf& place_of) {
    if (part + 1 >= kParts) return;
    const auto next = place_of(part + 1);
    if (next.inner0 != place.inner0) AskCommon(args, next, 0);
  }
  AICF_DEVICE void AskRun(const Args& args, const PartPlace& place, int r) {
    const Run run(r % kCount);
    const index_t line = place.LineOf(run);
    const bool inside = kWhole || line >= 0;
    if (kSkips && !inside) return;
    held[r % (kHeld > 0 ? kHeld : 1)].Load(args, inside ? place.inner0 + run.inner : 0,
                                           inside ? line : 0, place.tile.batch);
  }
  /// Asks for the operands of the run that comes kHeld behind run i of the part.
  template <class PlaceOf>
  AICF_DEVICE void AskBehind(const Args& args, int part, int i, const PlaceOf& place_of) {
    if constexpr (kHeld > 0) {
      const int ahead = i + kHeld, later = part + ahead / kCount;
      if (later < kParts) AskRun(args, place_of(later), FirstRun(part) + ahead);
    }
  }
  template <class Load>
  AICF_DEVICE void StoreRunOfPart(const Args& args, const PartPlace& place, int r,
                                  const OfAllLines& all, const Load& load) {
    const Run run(r % kCount);
    const index_t line = place.LineOf(run);
    const bool inside = kWhole || line >= 0;
    if (kSkips && !Parts::kStored && !inside) return;
    const index_t i0 = inside ? place.inner0 + run.inner : 0, i1 = inside ? line : 0;
    const index_t i2 = place.tile.batch;
    if constexpr (Parts::kStored) {
      // Lanes without results take part in what the others exchange.
      float kept[kRun] = {};
      if (!kSkips || inside) StoreRun(args, r, run, i0, i1, i2, inside, all, load, kept);
      Parts::Add(args, kept, inside, i0, i1, i2, run.outer, parts);
    } else {
      StoreRun(args, r, run, i0, i1, i2, inside, all, load);
    }
  }
  /// `kept`: what Epilogue::Store takes behind the place.
  template <class Load, class... Kept>
  AICF_DEVICE void StoreRun(const Args& args, int r, const Run& run, index_t i0, index_t i1,
                            index_t i2, bool inside, const OfAllLines& all, const Load& load,
                            Kept&... kept) {
    raw_t raw[kRaws * kRun];
    load(run, raw);
    Operands own;
    if constexpr (kHeld > 0)
      own = held[r % kHeld];
    else
      own.Load(args, i0, i1, i2);
    if constexpr (kSharesCommon)
      Epilogue::Store<kRun>(args, raw, all, own, i0, i1, i2, kept..., kSkips || inside);
    else
      Epilogue::Store<kRun>(args, raw, own, i0, i1, i2, kept..., kSkips || inside);
  }
};

/// The moments of the rows (of m) of a run's results behind its sums, where the epilogue sees them:
/// of one row, or, where the output is contiguous along m, of several. `row` is the first of the
/// tensor cores' rows that the run counts from, within the part's 64.
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

/// The results of a warpgroup whose sums are those of all of k: every warp turns its own.
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
  /// Asks for the operands of a tile's first parts, before its sums are there. Those of the next
  /// tile are not asked for in Store: values that a loop carries over make it wait for them.
  AICF_DEVICE void Ask(const Args& args, const TileWalk& tile, int row0) {
    runs.Ask(args, [&](int part) { return PartPlace(part, tile, row0, row); });
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
  /// What a warp of the producer does meanwhile; it has asked for its operands before.
  AICF_DEVICE void Help(const Args& args, const TileWalk& tile) {
#pragma unroll(kUnrolledParts)
    for (int part = 0; part < Sums::kParts; ++part) {
      if (part > 0) MeetHelper();
      StoreHalfOf(args, part, tile, 0);
    }
  }

 private:
  /// The thread's half of a part, when it is in the warp's memory.
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
