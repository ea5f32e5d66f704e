// What the products on Hopper's own instructions share. One warpgroup (the producer) asks the copy
// engine for stages of A and B, up to kStages of them ahead; kConsumers warpgroups multiply them
// out of shared memory. Blocks stay and take tile after tile, so that the copies for the next tile
// run during the epilogue of this one; where a block has one tile, the producer's warps help with
// the epilogue instead (common/hopper_helpers.cuh). With kSplit the blocks of a cluster share the k
// of one tile, and each finishes a part of it from the sums of all (common/hopper_split.cuh).
//
// To be included after the following definitions, which the includer makes beside the instance's
// constants (common/hopper_stage.cuh):
//   TileA, TileB   StageOperand of each operand, or a type derived from it
//   kSteps         number of stages that all of k takes
//   StageScales    the scales that lie beside a stage, by which a consumer multiplies the stage's
//                  sums as it adds them; or NoScales
//   Moments        how consumers get the moments of A's rows for the epilogue, from sums of their
//                  stages or from moments of parts of the rows; or NoMoments
//   Parts          what becomes of the results beside the epilogue's outputs; or NoParts
//   TileWalk       the walk over the block's tiles: Valid(), Next(), HasNext(). kOne says that no
//                  block has more than one tile, kWhole that all that tiles compute are results.
//                  `batch` is the tile's index in the output's third group. Hold() keeps the
//                  compiler from computing the place later. FirstRow() and FirstColumn() are the
//                  tile's first row and column of the tensor cores: the one that runs along the
//                  output's contiguous direction counts elements there, the other one counts lines
//                  as LineOf() takes them. LineOf(line) is the index of a line among the output's
//                  lines, below 0 where there is none; MayHaveLines(line) is false only if there
//                  are none from `line` on.
//   AICF_STREAMS   a macro: the next kernel may start at once, instead of when this one has waited
//                  for its predecessors (gemm/stream_rows.cuh). Undefined elsewhere
#pragma once

#include "common/hopper_split.cuh"

namespace aicf {

constexpr int kWarpgroup = 128;
/// Shared memory in which a warpgroup makes results of its sums, counted in sums: room for those
/// that its four warps transpose or, with kSplit, for what all blocks send of one part.
constexpr int kResultLines = 64 / kProductHalves;  ///< of 64 rows, each with room for all its sums
constexpr int kStoreSums = kSplit > 1
                               ? kSplit*((kResultLines - 1) / kSplit + 1) * 64 * kProductHalves
                               : 4 * kWarpStoreSums;
static_assert(kSplit * PartShares::kSenderSums <= kStoreSums, "room for all");
constexpr int kSharedBytes =
    kPatternBytes + kHeldBytes + kStages * kStageBytes + kConsumers * kStoreSums * 4 +
    16 * kStages + (kHoldsB ? 16 : 0) + (kSplit > 1 ? kConsumers * SplitStore::kBarrierBytes : 0) +
    kStages * StageScales::kFloats * 4 + kConsumers * (Moments::kFloats + Parts::kFloats) * 4;
// Behind the last stage's B, whose rows may be cut, lie its A and the memory for results.
static_assert((64 * kBlocksOfRows * kConsumers - kRows) * kRowBytes <=
                      kTileM * kRowBytes + kConsumers * kStoreSums * 4 ||
                  !kCutsRows,
              "what is read behind the tile is the block's");
/// The producer is a warpgroup numbered before the consumers, or a single warp numbered after them,
/// which leaves more registers to the other blocks of its multiprocessor.
constexpr bool kThinProducer = kBlockX == kWarpgroup * kConsumers + 32;
static_assert(kThinProducer || kBlockX == kWarpgroup * (kConsumers + 1), "producer and consumers");
static_assert(kDynamicShared >= kSharedBytes, "the launch has the tile's shared memory");
static_assert(kStages >= 2 && kConsumers >= 1 && kConsumers <= 3, "as above");
static_assert(!kPingPong || (kConsumers > 1 && kSplit == 1),
              "taking turns needs two, and all of k");
static_assert(kSteps >= kSplit, "every block has a part of k");
static_assert(StageScales::kWarps == 0 || (StageScales::kWarps < 4 && !kThinProducer),
              "scales are fetched beside the warp that produces");
static_assert(!Moments::kSeen || (kPromote == 0 && StageScales::kFloats == 0),
              "moments are of rows whose products are summed up as they are");
static_assert(!kHoldsB || kPromote == 0, "blocks that hold B leave the sums to the tensor cores");
static_assert(kPromote == 0 || kPromote == 1, "the sums of every stage are added, or none");

/// The steps [first, end) of k that this block multiplies: all of them or, with kSplit, its share.
/// Shares differ by one step at most.
struct StepRange {
  index_t first = 0, end = kSteps;

  AICF_DEVICE StepRange() {
    if constexpr (kSplit > 1) {
      first = kSteps * RankInCluster() / kSplit;
      end = kSteps * (RankInCluster() + 1) / kSplit;
    }
  }
};

/// The block's shared memory: the tiles of B that it holds (kHeldB), then the stages, then the
/// consumers' memory for results, then the barriers, then the scales of stages, or the consumers'
/// moments and parts. In a stage B lies before A, because it is whole swizzle patterns whatever the
/// tile, so that A begins where one begins.
struct SharedLayout {
  char* start;  ///< of the stages
  unsigned tiles, barriers;

  AICF_DEVICE SharedLayout() {
    char* memory = DynamicShared();
    const unsigned past = SharedAddress(memory) % kPatternBytes;
    start = memory + (kPatternBytes - past) % kPatternBytes + kHeldBytes;
    tiles = SharedAddress(start);
    barriers = tiles + kStages * kStageBytes + kConsumers * kStoreSums * 4;
  }
  AICF_DEVICE unsigned A(int stage) const { return B(stage) + kStageBytesB; }
  AICF_DEVICE unsigned B(int stage) const { return tiles + stage * kStageBytes; }
  /// Tile i of those that the block holds, and the barrier for all of them.
  AICF_DEVICE unsigned Held(int i) const { return tiles - kHeldBytes + i * kTileBytesB; }
  AICF_DEVICE unsigned HeldBarrier() const { return barriers + 16 * kStages; }
  AICF_DEVICE unsigned Full(int stage) const { return barriers + 8 * stage; }
  AICF_DEVICE unsigned Empty(int stage) const { return barriers + 8 * (kStages + stage); }
  AICF_DEVICE sum_t* StoreMemory(int consumer) const {
    return reinterpret_cast<sum_t*>(start + kStages * kStageBytes) + consumer * kStoreSums;
  }
  AICF_DEVICE unsigned SplitBarriers(int consumer) const {
    return barriers + 16 * kStages + consumer * SplitStore::kBarrierBytes;
  }
  AICF_DEVICE float* Scales(int stage) const { return Behind() + stage * StageScales::kFloats; }
  AICF_DEVICE float* MomentsOf(int consumer) const {
    return Behind() + consumer * Moments::kFloats;
  }
  AICF_DEVICE float* PartsOf(int consumer) const {
    return Behind() + kConsumers * Moments::kFloats + consumer * Parts::kFloats;
  }

 private:
  /// What lies behind the barriers: the scales, or moments and parts.
  AICF_DEVICE float* Behind() const {
    constexpr int kBefore = 16 * kStages + (kHoldsB ? 16 : 0) +
                            (kSplit > 1 ? kConsumers * SplitStore::kBarrierBytes : 0);
    static_assert(kBefore % 16 == 0, "pairs are aligned");
    return reinterpret_cast<float*>(start + (barriers - tiles) + kBefore);
  }
};

#ifdef AICF_STREAMS
constexpr bool kStreams = true;  ///< the next kernel may start at once (gemm/stream_rows.cuh)
#else
constexpr bool kStreams = false;
#endif

/// A place in the ring of stages: the stage, and the parity of the phase of its barriers.
struct RingPlace {
  int stage = 0;
  unsigned parity = 0;

  AICF_DEVICE void Next() {
    if (++stage == kStages) {
      stage = 0;
      parity ^= 1;
    }
  }
  /// Passes over the stages of a tile that another consumer multiplies.
  AICF_DEVICE void SkipTile() {
    constexpr int kStagesOn = static_cast<int>(kSteps % kStages);
    constexpr unsigned kTurns = static_cast<unsigned>(kSteps / kStages);
    stage += kStagesOn;
    parity ^= kTurns & 1;
    if (stage >= kStages) {
      stage -= kStages;
      parity ^= 1;
    }
  }
};

AICF_DEVICE void InitBarriers(const SharedLayout& shared) {
  // Every warp that reads a stage arrives at the stage's barrier Empty in every block that writes
  // into it, with scales every lane of it (Release).
  constexpr int kOfWarp = StageScales::kFloats > 0 ? 32 : 1;
  constexpr int kReaders = (kPingPong ? 1 : kConsumers) * 4 * kSharing * kOfWarp;
  for (int s = 0; s < kStages; ++s) {
    BarrierInit(shared.Full(s), 1 + StageScales::kArrivals);
    BarrierInit(shared.Empty(s), kReaders);
  }
  if constexpr (kHoldsB) BarrierInit(shared.HeldBarrier(), 1);
  if constexpr (kSplit > 1) {
    for (int c = 0; c < kConsumers; ++c) SplitStore::Init(shared.SplitBarriers(c));
  }
  BarrierInitFence();
}

/// Whether the stages have room for all that a block multiplies. Then no stage is ever freed, and
/// the tensor cores are asked for all products one after the other, without a look at how far they
/// are. In a product of some 12 steps, which takes a few microseconds altogether, each look costs
/// as much as the products of a step do.
constexpr bool kHoldsTile = TileWalk::kOne && (kSteps - 1) / kSplit + 1 <= kStages &&
                            kPromote == 0 && !Moments::kReadsStages;

constexpr int kOperandA = 1, kOperandB = 2, kBothOperands = kOperandA | kOperandB;
/// Whether there is a producer thread for B alone. B may be asked for before the wait for the
/// kernel before this one (kAhead), and this thread never waits for that kernel. Otherwise one
/// thread asks for as many stages of B as there are, then waits, then asks for A. That is as good
/// where the stages hold all of B, and where the producer is a single warp.
constexpr bool kTwoProducers =
    kAhead != 0 && !kThinProducer && StageScales::kWarps == 0 && !kHoldsTile && !kHoldsB;
static_assert(kAhead == 0 || kSharing == 1, "the other blocks' barriers may not be there yet");

/// Asks for all tiles of B that the block holds.
template <class Fetch>
AICF_DEVICE void FetchHeld(const Args& args, const SharedLayout& shared) {
  BarrierArriveExpect(shared.HeldBarrier(), kHeldBytes);
  Fetch::Held(args, shared);
}

/// Number of stages of the block's first tile whose part of B the producer's only thread asks for
/// before the wait; 0 where it asks for none or is not the only one.
AICF_DEVICE index_t StagesAhead(const StepRange& steps) {
  constexpr bool kAsksAhead = kAhead != 0 && !kTwoProducers && !kHoldsB;
  return kAsksAhead ? MinOf(steps.end - steps.first, index_t(kStages)) : 0;
}
template <class Fetch>
AICF_DEVICE void ProduceAhead(const Args& args, const SharedLayout& shared) {
  const TileWalk walk;
  if constexpr (kHoldsB && kAhead != 0) {
    if (walk.Valid()) FetchHeld<Fetch>(args, shared);
  }
  const StepRange steps;
  const index_t ahead = walk.Valid() ? StagesAhead(steps) : 0;
  Fetch fetch(args, walk, steps.first);
#pragma unroll 1
  for (int stage = 0; stage < ahead; ++stage, fetch.Next()) {
    BarrierArriveExpect(shared.Full(stage), Fetch::kBytes);
    fetch.B(shared.B(stage), shared.Full(stage));
  }
}

/// The work of one thread of the producer: asks for these operands' parts of the stages, for all of
/// the block's tiles. The thread that fetches B also announces the bytes of the whole stage.
template <class Fetch, int kOperands>
AICF_DEVICE void Produce(const Args& args, const SharedLayout& shared) {
  const StepRange steps;
  index_t ahead = StagesAhead(steps);
  RingPlace place;
  TileWalk walk;
  if constexpr ((kOperands & kOperandA) != 0) {
    walk.Hold();
    WaitForPredecessors();
    if constexpr (!kStreams) LetSuccessorsStart();
  }
  if constexpr (kHoldsB && kAhead == 0) {
    if (walk.Valid()) FetchHeld<Fetch>(args, shared);
  }
  for (; walk.Valid(); walk.Next()) {
    Fetch fetch(args, walk, steps.first);
#pragma unroll 1
    for (index_t step = steps.first; step < steps.end; ++step, place.Next(), fetch.Next()) {
      const unsigned full = shared.Full(place.stage);
      const bool asked = ahead > 0;
      if (asked) {
        --ahead;
      } else {
        BarrierWait(shared.Empty(place.stage), place.parity ^ 1);
        if constexpr ((kOperands & kOperandB) != 0) BarrierArriveExpect(full, Fetch::kBytes);
      }
      if constexpr ((kOperands & kOperandA) != 0) {
        fetch.A(shared.A(place.stage), full);
        if constexpr (StageScales::kLines) fetch.Scales(shared.Scales(place.stage), full);
      }
      if constexpr ((kOperands & kOperandB) != 0 && !kHoldsB) {
        if (!asked) fetch.B(shared.B(place.stage), full);
      }
    }
  }
}

/// Frees a stage: tells the producers of all blocks that write into it.
AICF_DEVICE void Release(const SharedLayout& shared, int stage) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if constexpr (StageScales::kFloats > 0) {
    // Every lane has read scales with ordinary loads, which its arrival orders before what is
    // written next. BarrierArriveAt does not order memory.
    BarrierArrive(shared.Empty(stage));
    return;
  }
  if constexpr (Moments::kReadsStages) __syncwarp();  // all lanes have read their rows' terms
  if (lane < kSharing) BarrierArriveAt(shared.Empty(stage), kSplit > 1 ? RankInCluster() : lane);
}

/// Adds the products of the tiles of A and B at two addresses to the sums; `row0` is the consumer's
/// first row within the tile.
AICF_DEVICE void MultiplyStage(unsigned tile_a, unsigned tile_b, int row0, bool first, Sums& sums) {
  const u64 a = TileA::Operand(tile_a + (kSwap ? 0 : row0 * kRowBytes));
  const u64 b = TileB::Operand(tile_b + (kSwap ? row0 * kRowBytes : 0));
  ProductsBegin();
#pragma unroll
  for (int k = 0; k < kStageSteps; ++k) {
#pragma unroll
    for (int i = 0; i < kBlocksOfRows; ++i) {
      const u64 own = i * (64 * kRowBytes / 16);  // addresses are counted in 16 bytes
      const u64 x = a + k * (TileA::kStepBytes / 16) + (kSwap ? 0 : own);
      const u64 y = b + k * (TileB::kStepBytes / 16) + (kSwap ? own : 0);
      const int add = k > 0 || !first;
      if constexpr (kSwap)
        AddProducts<!TileB::kAlongK, !TileA::kAlongK>(sums.d[i], y, x, add);
      else
        AddProducts<!TileA::kAlongK, !TileB::kAlongK>(sums.d[i], x, y, add);
    }
  }
  ProductsCommit();
}

/// Computes the sums of one tile. A stage is freed once the products after it are under way and its
/// own are done. `held` is the number of the first of the tiles of B that the block holds for this
/// tile's columns. `started` runs when all products have been asked for. `meanwhile` runs once,
/// when neither products nor copies wait for the consumer: with kHoldsTile when all products have
/// been asked for, otherwise as soon as every stage has been freed once, so that memory is busy
/// with filling them.
template <class Started, class Meanwhile>
AICF_DEVICE void MultiplyTile(const SharedLayout& shared, RingPlace& place, int row0, int held,
                              Sums& sums, Moments& moments, Started&& started,
                              Meanwhile&& meanwhile) {
  const StepRange steps;
  const index_t idle = MinOf(steps.first + index_t(kStages), steps.end - 1);
  int last = 0;
  unsigned tile_b = shared.Held(held);
  if constexpr (kHoldsB) BarrierWait(shared.HeldBarrier(), 0);
#pragma unroll 1
  for (index_t step = steps.first; step < steps.end; ++step, place.Next()) {
    const bool first = step == steps.first;
    BarrierWait(shared.Full(place.stage), place.parity);
    MultiplyStage(shared.A(place.stage), kHoldsB ? tile_b : shared.B(place.stage), row0, first,
                  sums);
    tile_b += kTileBytesB;
    if constexpr (Moments::kReadsStages) moments.AddStage(shared.A(place.stage) + row0 * kRowBytes);
    if constexpr (kHoldsTile) continue;
    ProductsWait<1>();
    if (!first) Release(shared, last);
    last = place.stage;
    if (step == idle) meanwhile();
  }
  started();
  if constexpr (kHoldsTile) meanwhile();
  ProductsWait<0>();
  if constexpr (!kHoldsTile) Release(shared, last);
  sums.Hold();
}

/// Number of the first tile of B that the block holds for the tile's columns.
template <class Walk>
AICF_DEVICE int FirstHeld(const Walk& walk) {
  if constexpr (kHoldsB)
    return walk.column0 / kTileN * static_cast<int>(kSteps);
  else
    return 0;
}

/// A consumer's operands in one stage, as the tensor cores name them. Names of the first stage are
/// made once; those of another stage are some bytes further.
struct StageNames {
  u64 a, b;

  /// Of the first stage; `row0` is the consumer's first row within the tile.
  AICF_DEVICE StageNames(const SharedLayout& shared, int row0)
      : a(TileA::Operand(shared.A(0) + (kSwap ? 0 : row0 * kRowBytes))),
        b(TileB::Operand(shared.B(0) + (kSwap ? row0 * kRowBytes : 0))) {}
  AICF_DEVICE StageNames(const StageNames& first, int stage)
      : a(Further(first.a, stage * kStageBytes)), b(Further(first.b, stage * kStageBytes)) {}
};

/// Computes the products of one stage for the consumer's block `i` of 64 rows, in sums that start
/// anew.
AICF_DEVICE void MultiplyBlock(const StageNames& stage, int i, sum_t (&sums)[kColumns / 2]) {
  const int rows = i * 64 * kRowBytes;
  ProductsBegin();
#pragma unroll
  for (int k = 0; k < kStageSteps; ++k) {
    const u64 a = Further(stage.a, k * TileA::kStepBytes + (kSwap ? 0 : rows));
    const u64 b = Further(stage.b, k * TileB::kStepBytes + (kSwap ? rows : 0));
    if constexpr (kSwap)
      AddProducts<!TileB::kAlongK, !TileA::kAlongK>(sums, b, a, k > 0);
    else
      AddProducts<!TileA::kAlongK, !TileB::kAlongK>(sums, a, b, k > 0);
  }
  ProductsCommit();
}

/// Two consumers of a tile take turns in asking the tensor cores for products, so that one of them
/// adds its sums while the other's are multiplied. Three consumers take no turns: two of them
/// always have products waiting.
struct ConsumerTurns {
  static constexpr bool kTakesTurns = !kPingPong && kConsumers == 2;
  int consumer;
  bool began = false;

  AICF_DEVICE void Wait() {
    if constexpr (kTakesTurns) {
      if (consumer > 0 || began) NamedBarrierWait(1 + consumer, 2 * kWarpgroup);
      began = true;
    }
  }
  /// `last`: the block has no products after these.
  AICF_DEVICE void Pass(bool last) {
    if constexpr (kTakesTurns) {
      if (consumer == 0 || !last) NamedBarrierArrive(2 - consumer, 2 * kWarpgroup);
    }
  }
};

/// MultiplyTile where the tensor cores' own sums have too few bits for all of k, as they have for
/// float8: the sums of every stage are added to sums in f32. The products of one consumer run while
/// another one adds. A stage is added in parts of one block of 64 rows, so that a thread has few
/// sums twice. Where the stage has scales, parts are multiplied by them.
///
/// What a consumer does between the end of its products and the next ones may keep the tensor cores
/// waiting. So all that can be done while products run is done there: to see whether the next stage
/// is there, to name its operands, and to read scales.
template <class Started>
AICF_DEVICE void MultiplyTileInParts(const SharedLayout& shared, RingPlace& place, int row0,
                                     ConsumerTurns& turns, bool last_tile, Sums& sums,
                                     Started&& started) {
  constexpr int kLast = kBlocksOfRows - 1;
  const StepRange steps;
  const StageNames first(shared, row0);
  StageScales scales;
  sum_t part[kColumns / 2];
  sums = {};
  BarrierWait(shared.Full(place.stage), place.parity);
  StageNames names(first, place.stage);
  const auto ask = [&](int i, bool last_step) {
    turns.Wait();
    MultiplyBlock(names, i, part);
    turns.Pass(last_tile && last_step && i == kLast);
  };
  ask(0, steps.first + 1 == steps.end);
#pragma unroll 1
  for (index_t step = steps.first;; ++step) {
    const bool last_step = step + 1 == steps.end;
    const RingPlace own = place;
    const float* of_stage = shared.Scales(own.stage);
    scales.ReadColumns(of_stage);
    place.Next();
#pragma unroll
    for (int i = 0; i < kBlocksOfRows; ++i) {
      scales.ReadRows(of_stage, row0 + i * 64);
      if (i < kLast) {
        ProductsWait<0>();
        sums.Add(i, part, scales);
        ask(i + 1, last_step);
        continue;
      }
      if (last_step) started();
      const bool there = !last_step && BarrierHasEnded(shared.Full(place.stage), place.parity);
      names = StageNames(first, place.stage);
      ProductsWait<0>();
      Release(shared, own.stage);
      if (!last_step && !there) BarrierWait(shared.Full(place.stage), place.parity);
      sums.Add(i, part, scales);
    }
    if (last_step) break;
    ask(0, step + 2 == steps.end);
  }
}

/// Puts the moments of a tile's rows where the consumer's epilogue reads them, once the epilogue of
/// its previous tile no longer does.
AICF_DEVICE void FinishMoments(const SharedLayout& shared, int consumer, Moments& moments) {
  Moments::Meet(consumer);
  moments.Finish(shared.MomentsOf(consumer));
  Moments::Meet(consumer);
}

/// Asks ahead for what the epilogue of the consumer's next tile reads.
template <class ResultStore>
AICF_DEVICE void PrefetchNext(const Args& args, const TileWalk& walk, int row0,
                              const ResultStore& results) {
  if constexpr (!TileWalk::kOne) {
    TileWalk next = walk;
#pragma unroll
    for (int i = 0; i < (kPingPong ? kConsumers : 1); ++i) next.Next();
    if (next.Valid()) results.Prefetch(args, next, row0);
  }
}

/// The work of one consumer: it multiplies and stores its rows of every tile of the block or, with
/// kPingPong, every kConsumers-th tile.
template <class ResultStore>
AICF_DEVICE void Consume(const Args& args, const SharedLayout& shared, int consumer,
                         ResultStore& results) {
  const int row0 = kPingPong ? 0 : consumer * kConsumerRows;
  RingPlace place;
  Sums sums = {};
  int turn = 0;
  bool began = false, first_tile = true;
  ConsumerTurns turns{consumer};
  Moments moments;
  for (TileWalk walk; walk.Valid(); walk.Next()) {
    if constexpr (kPingPong) {
      const bool mine = turn == consumer;
      turn = turn + 1 == kConsumers ? 0 : turn + 1;
      if (!mine) {
        place.SkipTile();
        began = true;
        continue;
      }
      if (began) NamedBarrierWait(1 + consumer, 2 * kWarpgroup);
      began = true;
    }
    if (first_tile) WaitForPredecessors();
    moments.Begin(args, walk, row0);
    results.Ask(args, walk, row0);
    PrefetchNext(args, walk, row0, results);
    const auto started = [&] {
      if constexpr (kPingPong) {
        if (walk.HasNext()) NamedBarrierArrive(1 + turn, 2 * kWarpgroup);
      }
    };
    // Moments that are made of the rows' parts should not hold up the tensor cores. They are
    // finished while these multiply (kHoldsTile), while memory fills the stages (kStreams), or
    // otherwise before the block's first stages are there, and those of its later tiles after the
    // products.
    constexpr bool kOfParts = Moments::kSeen && !Moments::kReadsStages;
    constexpr bool kMeanwhile = kOfParts && (kHoldsTile || kStreams);
    constexpr bool kBefore = kOfParts && !kMeanwhile;
    if (kBefore && first_tile) FinishMoments(shared, consumer, moments);
    const auto meanwhile = [&] {
      if constexpr (kMeanwhile) FinishMoments(shared, consumer, moments);
    };
    if constexpr (kPromote > 0)
      MultiplyTileInParts(shared, place, row0, turns, !walk.HasNext(), sums, started);
    else
      MultiplyTile(shared, place, row0, FirstHeld(walk), sums, moments, started, meanwhile);
    if (Moments::kReadsStages || (kBefore && !first_tile)) FinishMoments(shared, consumer, moments);
    first_tile = false;
    if constexpr (Moments::kSeen) moments.Store(args, walk, row0, shared.MomentsOf(consumer));
    results.Store(args, sums, walk, row0);
  }
}
/// Calls use(results) with the object that stores the results of a consumer.
template <class Use>
AICF_DEVICE void WithResults(const SharedLayout& shared, int consumer, const Use& use) {
  if constexpr (kSplit > 1) {
    SplitStore results(shared.StoreMemory(consumer), shared.SplitBarriers(consumer),
                       shared.MomentsOf(consumer));
    use(results);
  } else {
    WarpStore results(shared.StoreMemory(consumer), shared.MomentsOf(consumer),
                      shared.PartsOf(consumer));
    use(results);
  }
}
AICF_DEVICE void Consume(const Args& args, const SharedLayout& shared, int consumer) {
  WithResults(shared, consumer, [&](auto& results) { Consume(args, shared, consumer, results); });
}
/// What the producer's warps do when all stages have been asked for: their part of the epilogue.
AICF_DEVICE void Help(const Args& args, const SharedLayout& shared) {
  WithResults(shared, 0, [&](auto& results) {
    const TileWalk walk;
    if (!walk.Valid()) return;
    __syncwarp();
    WaitForPredecessors();
    results.Ask(args, walk, 0);
    results.Help(args, walk);
  });
}

/// Registers of a thread of the producer and of a consumer once RegistersDown and RegistersUp have
/// moved some from one to the other. All threads together have what the block starts with.
constexpr int kProducerRegisters = kConsumers != 2 ? 32 : StageScales::kFloats > 0 ? 40 : 24;
constexpr int kConsumerRegisters = kConsumers != 2 ? 160 : StageScales::kFloats > 0 ? 232 : 240;

/// The body of the kernel. Fetch asks the copy engine for stages. It is made of the arguments, a
/// tile and its first step; A(to, barrier) and B(to, barrier) ask for the parts of one step, Next()
/// goes to the next step, and kBytes are what both bring. Where StageScales::kLines, Scales(stage,
/// barrier) asks for the scales of one step. fetch_scales(args, shared) is what the producer's last
/// StageScales::kWarps warps do. Every thread that touches memory which kernels
/// write waits for the kernel before this one by itself, as late as it can: what comes before the
/// wait costs no time.
#define AICF_KERNEL_WAITS
template <class Fetch, class FetchScales>
AICF_DEVICE void RunProduct(const Args& args, const FetchScales& fetch_scales) {
  const SharedLayout shared;
  if (threadIdx.x == 0) {
    PrefetchTensorMap(args.map[0]);
    PrefetchTensorMap(args.map[1]);
    InitBarriers(shared);
    if constexpr (kStreams) LetSuccessorsStart();
    ProduceAhead<Fetch>(args, shared);
  }
  // Blocks that share k only arrive here. They wait for each other when they have sums to exchange
  // (SplitStore::Store).
  if constexpr (kSharing > 1) {
    ClusterArrive();
    ClusterWait();
  } else {
    if constexpr (kSplit > 1) ClusterArrive();
    __syncthreads();
  }
  constexpr bool kMovesRegisters = kConsumers > 1 && !kThinProducer;
  constexpr int kProducer = kThinProducer ? kConsumers : 0;  ///< its warpgroup
  const int warpgroup = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / kWarpgroup, 0);
  if (warpgroup == kProducer) {
    if constexpr (kMovesRegisters) RegistersDown<kProducerRegisters>();
    if constexpr (kTwoProducers) {
      if (threadIdx.x == 0) Produce<Fetch, kOperandB>(args, shared);
      if (threadIdx.x == 32) Produce<Fetch, kOperandA>(args, shared);
    } else {
      if (threadIdx.x == kProducer * kWarpgroup) Produce<Fetch, kBothOperands>(args, shared);
    }
    if constexpr (kHelped) Help(args, shared);
    if constexpr (StageScales::kWarps > 0) {
      if (threadIdx.x % kWarpgroup >= kWarpgroup - 32 * StageScales::kWarps) {
        WaitForPredecessors();
        fetch_scales(args, shared);
      }
    }
  } else {
    if constexpr (kMovesRegisters) RegistersUp<kConsumerRegisters>();
    Consume(args, shared, kThinProducer ? warpgroup : warpgroup - 1);
  }
  // A block must not end while other blocks of the cluster may still write to its shared memory or
  // arrive at its barriers.
  if constexpr (kSharing > 1) LeaveCluster();
}
/// The same for stages without scales.
template <class Fetch>
AICF_DEVICE void RunProduct(const Args& args) {
  RunProduct<Fetch>(args, [](const Args&, const SharedLayout&) {});
}

}  // namespace aicf
