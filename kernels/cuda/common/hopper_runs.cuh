// Hands a thread's results of a Hopper product to the epilogue in runs of neighbours (kRun): where
// the runs lie in the output, and when the operands that the epilogue reads beside the sums are
// asked for. How threads share out the runs of a part is said by the caller's type Run: WarpRun
// (common/hopper_store.cuh) or ShareRun (common/hopper_split.cuh).
#pragma once

#include "common/block.cuh"
#include "common/hopper_sums.cuh"

namespace aicf {

/// Where a part of the sums lies: outer0 is its first line, as the tile counts them
/// (TileWalk::LineOf), and inner0 its first element of a line of the output.
struct PartPlace {
  const TileWalk& tile;
  index_t outer0, inner0;

  /// The place of part `part` of a warpgroup whose first sum is in row `row0` of the tile. `row` is
  /// the row within the part's 64 from which the caller counts: a warp's first one, or 0. Both are
  /// rows of sums, of which a result takes kRowHalves.
  AICF_DEVICE PartPlace(int part, const TileWalk& walk, int row0, int row) : tile(walk) {
    const index_t first_row = walk.FirstRow() + row0 / kRowHalves +
                              part / kStoreParts * (64 / kRowHalves) + row / kRowHalves;
    const index_t first_column = walk.FirstColumn() + part % kStoreParts * kPartColumns;
    outer0 = kColumnsInner ? first_row : first_column;
    inner0 = kColumnsInner ? first_column : first_row;
  }
  /// The output's line that a run lies in, below 0 where the run is outside the output.
  template <class Run>
  AICF_DEVICE index_t LineOf(const Run& run) const {
    constexpr bool kInside = TileWalk::kWhole && Run::kAllValid;
    if (!kInside && (!run.Valid() || inner0 + run.inner >= InnerEnd())) return -1;
    return tile.LineOf(outer0 + run.outer);
  }
  /// Whether the part may have results; the same for all lanes of a warp.
  AICF_DEVICE bool MayHaveResults() const {
    return TileWalk::kWhole || (inner0 < InnerEnd() && tile.MayHaveLines(outer0));
  }

 private:
  static_assert(!kCutsRows || !kColumnsInner, "lines end where the tile's rows do");
  /// Where the tile's results end along the output's lines. Lines may go on behind the tile, but
  /// the sums there belong to no result.
  AICF_DEVICE index_t InnerEnd() const {
    if constexpr (kCutsRows) return MinOf(kInnerEnd, tile.FirstRow() + kRows / kRowHalves);
    return kInnerEnd;
  }
};

/// Registers of a thread that are left for the operands of results beside its sums.
AICF_DEVICE constexpr int FreeRegisters() {
  // With operands of 8 bits, three blocks of one consumer and a thin producer share a
  // multiprocessor.
  constexpr bool kShared = sizeof(tile_t) == 1 && kBlockX == 128 + 32;
  constexpr int kRegisters = kConsumers == 3 ? 160 : kShared ? 128 : 240;
  constexpr int kOthers = kConsumers == 3 ? 40 : 64;
  return MaxOf(kRegisters - kOthers - kSumsOfThread, 0);
}
/// How many of `all` runs can have their operands, `bytes` for each run, in `registers` registers
/// at a time: a number that divides `all`, 0 for none.
AICF_DEVICE constexpr int RunsHeld(int all, int bytes, int registers) {
  int runs = bytes == 0 ? (registers >= 0 ? all : 0) : MinOf(all, 4 * registers / bytes);
  while (runs > 0 && all % runs != 0) --runs;
  return MaxOf(runs, 0);
}

/// Hands a thread's runs to the epilogue, part by part, and holds what the expression reads beside
/// the sums for the runs that are stored next. Operands that are the same for all lines, such as
/// factors and biases of columns, are read once for all runs of a part if these begin at one place
/// of their lines. Operands that would take too many registers are read only when they are needed.
/// Where a block has one tile, the operands of all its parts are asked for as early as registers
/// allow, and parts follow each other without a loop (kSpans), because a part takes less time than
/// its operands need to arrive.
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

  /// Number of sets of `common` operands (those that are the same for all lines) that all parts
  /// need. Operands of columns change from part to part where a line has several.
  static constexpr int kAllCommons = kSharesCommon && kColumnsInner ? kParts : 1;
  static constexpr int kAllRuns = kParts * kCount;
  static constexpr bool kFewRuns = kAllRuns <= 24;  ///< few enough to be unrolled
  static constexpr int kSpanned = RunsHeld(
      kAllRuns, kOperandBytes, FreeRegisters() - (kSharesCommon ? kAllCommons * kCommon : 0));
  static constexpr bool kReads = kInputs > kCoreInputs;  ///< reads operands beside the sums
  static constexpr bool kReachesOn = kSpanned > kCount;  ///< what is held reaches beyond a part
  static constexpr bool kSpans = TileWalk::kOne && kReads && kFewRuns && kReachesOn && kParts > 1;
  static constexpr int kCommons = kSpans ? kAllCommons : 1;
  /// Without kSpans the `common` operands of the next part are asked for when a part begins, if
  /// there is room for those of both parts (kTwoCommons), and when it ends otherwise.
  static constexpr bool kTwoCommons = !kSpans && kAllCommons > 1 && 2 * kCommon < FreeRegisters();
  static constexpr int kHeldCommons = !kSharesCommon ? 0 : kTwoCommons ? 2 : kCommons;
  static constexpr int kHeldOfPart =
      RunsHeld(kCount, kOperandBytes, FreeRegisters() - kHeldCommons * kCommon);
  static constexpr int kHeld = !kReads ? 0 : kSpans ? kSpanned : kHeldOfPart;
  static constexpr int kUnrolledParts = kSpans ? kParts : 1;
  /// Whether no run is outside the output. Then no condition keeps the compiler from working on one
  /// run beside the next.
  static constexpr bool kWhole = TileWalk::kWhole && Run::kAllValid;
  /// Whether a branch skips runs that are outside the output. Where blocks stay and take tile after
  /// tile, there is none, except with Parts: runs outside are computed for nothing but not stored,
  /// and read the operands of the first result, so that no branch keeps a thread's runs apart. The
  /// sums of all runs must then lie in the tile's memory (Run::kAllValid).
  static constexpr bool kSkips = !kWhole && (TileWalk::kOne || Parts::kStored || !Run::kAllValid);

  OfAllLines common[kCommons];
  Operands held[kHeld > 0 ? kHeld : 1];
  float* parts = nullptr;  ///< the warpgroup's shared memory in which Parts joins what warps have

  /// Asks for the operands of a tile's first runs. place_of(part) is the PartPlace of a part.
  template <class PlaceOf>
  AICF_DEVICE void Ask(const Args& args, const PlaceOf& place_of) {
#pragma unroll
    for (int p = 0; p < kCommons; ++p) AskCommon(args, place_of(p), p);
#pragma unroll
    for (int r = 0; r < kHeld; ++r) AskRun(args, place_of(r / kCount), r);
  }
  /// Stores one part. load(run, raw) gives the epilogue's raw inputs for a run, its sums first.
  /// After each run it asks for the operands of the run that comes kHeld later, in this part or in
  /// a later one, if there is one.
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
  /// Whether the part is to be stored at all; if so, some of it may be computed for nothing. The
  /// compiler is told that the answer is the same in all lanes. Otherwise it would have to expect
  /// diverged lanes wherever they exchange values.
  static AICF_DEVICE bool IsWorthIt(const PartPlace& place) {
    if constexpr (kWhole || kSkips) return true;
    return SameInWarp(place.MayHaveResults() ? 1 : 0) != 0;
  }
  /// Number of a part's first run. With kSpans the runs of all parts are numbered from the first
  /// part on; otherwise parts are a loop, and each part's runs are numbered from 0 on.
  static AICF_DEVICE int FirstRun(int part) { return kSpans ? part * kCount : 0; }

  /// Asks for the `common` operands of a part, which common[p] holds.
  AICF_DEVICE void AskCommon(const Args& args, const PartPlace& place, int p) {
    if constexpr (kSharesCommon) {
      const index_t inner = place.inner0 + Run(0).inner;
      if (kSkips && inner >= kInnerEnd) return;
      common[p].Load(args, TileWalk::kWhole || inner < kInnerEnd ? inner : 0);
    }
  }
  /// The same for the part behind `part`, which common[0] holds, if it begins at another place of
  /// its lines.
  template <class PlaceOf>
  AICF_DEVICE void AskNextCommon(const Args& args, int part, const PartPlace& place,
                                 const PlaceOf& place_of) {
    if (part + 1 >= kParts) return;
    const auto next = place_of(part + 1);
    if (next.inner0 != place.inner0) AskCommon(args, next, 0);
  }
  /// Asks for the operands of run r.
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
  /// `kept` is passed on to Epilogue::Store behind the indices: an array that gets the results as
  /// they are stored (GemmAttrs::part_columns), or nothing.
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

}  // namespace aicf
