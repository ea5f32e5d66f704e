// A thread's runs of a Hopper product's results to the epilogue: where they lie, and when what the
// epilogue reads beside the sums is asked for. How threads share out a part
// is their caller's (Run): common/hopper_store.cuh, common/hopper_split.cuh.
#pragma once

#include "common/block.cuh"
#include "common/hopper_sums.cuh"

namespace aicf {

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
  /// The output's line of a run, below 0 where there is none.
  template <class Run>
  AICF_DEVICE index_t LineOf(const Run& run) const {
    constexpr bool kInside = TileWalk::kWhole && Run::kAllValid;
    if (!kInside && (!run.Valid() || inner0 + run.inner >= kInnerEnd)) return -1;
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
  static constexpr int kAllRuns = kParts * kCount;
  static constexpr bool kFewRuns = kAllRuns <= 24;  ///< to be written out one after the other
  static constexpr int kSpanned = RunsHeld(
      kAllRuns, kOperandBytes, FreeRegisters() - (kSharesCommon ? kAllCommons * kCommon : 0));
  static constexpr bool kReads = kInputs > kCoreInputs;  ///< something beside the sums
  static constexpr bool kReachesOn = kSpanned > kCount;  ///< from a part into later ones
  static constexpr bool kSpans = TileWalk::kOne && kReads && kFewRuns && kReachesOn && kParts > 1;
  static constexpr int kCommons = kSpans ? kAllCommons : 1;
  /// Otherwise those of the next part are asked for when a part begins, if there is room for both,
  /// and else when it ends.
  static constexpr bool kTwoCommons = !kSpans && kAllCommons > 1 && 2 * kCommon < FreeRegisters();
  static constexpr int kHeldCommons = !kSharesCommon ? 0 : kTwoCommons ? 2 : kCommons;
  static constexpr int kHeldOfPart =
      RunsHeld(kCount, kOperandBytes, FreeRegisters() - kHeldCommons * kCommon);
  static constexpr int kHeld = !kReads ? 0 : kSpans ? kSpanned : kHeldOfPart;
  static constexpr int kUnrolledParts = kSpans ? kParts : 1;
  /// Whether no run is outside: then nothing keeps one from being worked on beside the next.
  static constexpr bool kWhole = TileWalk::kWhole && Run::kAllValid;
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

  /// Asks for the operands of a part's columns, as number p of `common`.
  AICF_DEVICE void AskCommon(const Args& args, const PartPlace& place, int p) {
    if constexpr (kSharesCommon) {
      const index_t inner = place.inner0 + Run(0).inner;
      if (kSkips && inner >= kInnerEnd) return;
      common[p].Load(args, TileWalk::kWhole || inner < kInnerEnd ? inner : 0);
    }
  }
  /// The same for the part behind `part`, where its columns are others.
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

}  // namespace aicf
