// What the products on Hopper's own instructions share. One warpgroup (the producer) asks the copy
// engine for stages of A and B, up to kStages of them ahead; kConsumers warpgroups multiply them
// out of shared memory. Blocks stay and take tile after tile, so that the copies for the next tile
// run during the epilogue of this one. With kSplit the blocks of a cluster share the k of one tile,
// and each finishes a part of it from the sums of all (common/hopper_split.cuh).
//
// Follows what the includer defines, beside the instance's constants (common/hopper_stage.cuh):
//   TileA, TileB   StageOperand of each operand, or derived from it
//   kSteps         stages that all of k takes
//   StageScales    what lies beside a stage: NoScales, or scales of its parts that a consumer adds
//   Moments        NoMoments, or what consumers know of A's rows for the epilogue: sums of their
//                  stages, or of moments of their parts
//   Parts          NoParts, or what becomes of the results beside the epilogue's outputs
//   TileWalk       the block's tiles: Valid(), Next(), HasNext(); `batch`; FirstRow() and
//                  FirstColumn() of the tensor cores, as elements of the output in its contiguous
//                  direction, and as LineOf() counts in the other; LineOf(line), its index among
//                  the output's lines, below 0 where there is none
#pragma once

#include "common/hopper_split.cuh"

namespace aicf {

constexpr int kWarpgroup = 128;
/// Memory of a warpgroup for its results: those of its warps, or what all blocks send of a part.
constexpr int kResultLines = 64 / kProductHalves;  ///< of 64 rows, with room for all their sums
constexpr int kStoreSums = kSplit > 1
                               ? kSplit*((kResultLines - 1) / kSplit + 1) * 64 * kProductHalves
                               : 4 * kWarpStoreSums;
static_assert(kSplit * PartShares::kSenderSums <= kStoreSums, "room for all");
constexpr int kSharedBytes = kPatternBytes + kStages * kStageBytes + kConsumers * kStoreSums * 4 +
                             16 * kStages +
                             (kSplit > 1 ? kConsumers * SplitStore::kBarrierBytes : 0) +
                             kStages * StageScales::kFloats * 4 +
                             kConsumers * (Moments::kFloats + Parts::kFloats) * 4;
/// The producer is a warpgroup in front of the consumers or, leaving more registers to the other
/// blocks of its multiprocessor, a warp behind them.
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
static_assert(kPromote == 0 || kPromote == 1, "the sums of every stage are added, or none");

/// Steps [first, end) of k: all of them, or this block's part, which differ by one step at most.
struct StepRange {
  index_t first = 0, end = kSteps;

  AICF_DEVICE StepRange() {
    if constexpr (kSplit > 1) {
      first = kSteps * RankInCluster() / kSplit;
      end = kSteps * (RankInCluster() + 1) / kSplit;
    }
  }
};

/// Shared memory: the stages, then the consumers' memory for results, then the barriers, then the
/// scales, or the consumers' moments and parts. B comes first in a stage: it is whole swizzle
/// patterns whatever the tile.
struct SharedLayout {
  char* start;
  unsigned tiles, barriers;

  AICF_DEVICE SharedLayout() {
    char* memory = DynamicShared();
    const unsigned past = SharedAddress(memory) % kPatternBytes;
    start = memory + (kPatternBytes - past) % kPatternBytes;
    tiles = SharedAddress(start);
    barriers = tiles + kStages * kStageBytes + kConsumers * kStoreSums * 4;
  }
  AICF_DEVICE unsigned A(int stage) const { return B(stage) + kTileN * kRowBytes; }
  AICF_DEVICE unsigned B(int stage) const { return tiles + stage * kStageBytes; }
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
  /// What follows the barriers.
  AICF_DEVICE float* Behind() const {
    constexpr int kBefore =
        16 * kStages + (kSplit > 1 ? kConsumers * SplitStore::kBarrierBytes : 0);
    static_assert(kBefore % 16 == 0, "pairs are aligned");
    return reinterpret_cast<float*>(start + (barriers - tiles) + kBefore);
  }
};

/// A place in the ring of stages: which one, and the parity of its phase.
struct RingPlace {
  int stage = 0;
  unsigned parity = 0;

  AICF_DEVICE void Next() {
    if (++stage == kStages) {
      stage = 0;
      parity ^= 1;
    }
  }
  /// Passes over a tile that another consumer multiplies.
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

/// Stages of the block's first tile whose part of B is asked for before the kernel waits for the
/// one before it, with kAhead.
AICF_DEVICE index_t StagesAhead(const StepRange& steps) {
  return kAhead != 0 ? MinOf(steps.end - steps.first, index_t(kStages)) : 0;
}

AICF_DEVICE void InitBarriers(const SharedLayout& shared) {
  // Every warp that reads a stage frees it at every block that wrote into it.
  constexpr int kReaders = (kPingPong ? 1 : kConsumers) * 4 * kSharing;
  for (int s = 0; s < kStages; ++s) {
    BarrierInit(shared.Full(s), 1 + 32 * StageScales::kWarps);
    BarrierInit(shared.Empty(s), kReaders);
  }
  if constexpr (kSplit > 1) {
    for (int c = 0; c < kConsumers; ++c) SplitStore::Init(shared.SplitBarriers(c));
  }
  BarrierInitFence();
}

/// Frees a stage for the producers that write into it.
AICF_DEVICE void Release(const SharedLayout& shared, int stage) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if constexpr (StageScales::kFloats > 0) {
    // What warps have read with ordinary loads is overwritten by ordinary stores.
    __syncwarp();
    if (lane == 0) BarrierArrive(shared.Empty(stage));
    return;
  }
  if constexpr (Moments::kReadsStages) __syncwarp();  // all lanes have read their rows' terms
  if (lane < kSharing) BarrierArriveAt(shared.Empty(stage), kSplit > 1 ? RankInCluster() : lane);
}

/// Adds one stage's products; `row0` is the consumer's first row within the tile.
AICF_DEVICE void MultiplyStage(const SharedLayout& shared, int stage, int row0, bool first,
                               Sums& sums) {
  const u64 a = TileA::Operand(shared.A(stage) + (kSwap ? 0 : row0 * kRowBytes));
  const u64 b = TileB::Operand(shared.B(stage) + (kSwap ? row0 * kRowBytes : 0));
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

/// The sums of one tile. A stage is freed once the products after it are under way.
template <class Started>
AICF_DEVICE void MultiplyTile(const SharedLayout& shared, RingPlace& place, int row0, Sums& sums,
                              Moments& moments, Started&& started) {
  const StepRange steps;
  int last = 0;
#pragma unroll 1
  for (index_t step = steps.first; step < steps.end; ++step, place.Next()) {
    const bool first = step == steps.first;
    BarrierWait(shared.Full(place.stage), place.parity);
    MultiplyStage(shared, place.stage, row0, first, sums);
    if constexpr (Moments::kReadsStages)
      moments.AddStage(shared.A(place.stage) + row0 * kRowBytes);
    ProductsWait<1>();
    if (!first) Release(shared, last);
    last = place.stage;
  }
  started();
  ProductsWait<0>();
  Release(shared, last);
  sums.Hold();
}

/// Adds the products of one stage and of the consumer's block `i` of 64 rows.
AICF_DEVICE void MultiplyBlock(const SharedLayout& shared, int stage, int row0, int i,
                               sum_t (&sums)[kColumns / 2]) {
  const int rows = (row0 + i * 64) * kRowBytes;
  const u64 a = TileA::Operand(shared.A(stage) + (kSwap ? 0 : rows));
  const u64 b = TileB::Operand(shared.B(stage) + (kSwap ? rows : 0));
  ProductsBegin();
#pragma unroll
  for (int k = 0; k < kStageSteps; ++k) {
    const u64 x = a + k * (TileA::kStepBytes / 16), y = b + k * (TileB::kStepBytes / 16);
    if constexpr (kSwap)
      AddProducts<!TileB::kAlongK, !TileA::kAlongK>(sums, y, x, k > 0);
    else
      AddProducts<!TileA::kAlongK, !TileB::kAlongK>(sums, x, y, k > 0);
  }
  ProductsCommit();
}

/// Two consumers of a tile take turns in asking the tensor cores for products, so that one of them
/// adds its sums while those of the other are multiplied. Three do not: two of them always have
/// products waiting.
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

/// The same where the tensor cores' own sums are too short for all of k, as they are for float8:
/// those of every stage are added to sums in f32. The products of one consumer run while another
/// one adds, and a part is one block of 64 rows, so that a thread has few sums twice. Where the
/// stage has scales, parts are multiplied by them.
template <class Started>
AICF_DEVICE void MultiplyTileInParts(const SharedLayout& shared, RingPlace& place, int row0,
                                     ConsumerTurns& turns, bool last_tile, Sums& sums,
                                     Started&& started) {
  const StepRange steps;
  StageScales scales;
  sums = {};
#pragma unroll 1
  for (index_t step = steps.first; step < steps.end; ++step, place.Next()) {
    const bool last_step = step + 1 == steps.end;
    BarrierWait(shared.Full(place.stage), place.parity);
    scales.ReadColumns(shared.Scales(place.stage));
#pragma unroll
    for (int i = 0; i < kBlocksOfRows; ++i) {
      constexpr int kLast = kBlocksOfRows - 1;
      sum_t part[kColumns / 2];
      turns.Wait();
      MultiplyBlock(shared, place.stage, row0, i, part);
      turns.Pass(last_tile && last_step && i == kLast);
      scales.ReadRows(shared.Scales(place.stage), row0 + i * 64);
      if (last_step && i == kLast) started();
      ProductsWait<0>();
      if (i == kLast) Release(shared, place.stage);
      sums.Add(i, part, scales);
    }
  }
}

/// Puts the moments of a tile's rows where the consumer's epilogue finds them, when that of its tile
/// before is over.
AICF_DEVICE void FinishMoments(const SharedLayout& shared, int consumer, Moments& moments) {
  Moments::Meet(consumer);
  moments.Finish(shared.MomentsOf(consumer));
  Moments::Meet(consumer);
}

/// One consumer: its rows of every tile of the block, or every kConsumers-th tile.
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
    moments.Begin(args, walk, row0);
    results.Ask(args, walk, row0);
    // Moments that are not of the stages are there before the block's first stages are.
    constexpr bool kBefore = Moments::kSeen && !Moments::kReadsStages;
    if (kBefore && first_tile) FinishMoments(shared, consumer, moments);
    const auto started = [&] {
      if constexpr (kPingPong) {
        if (walk.HasNext()) NamedBarrierArrive(1 + turn, 2 * kWarpgroup);
      }
    };
    if constexpr (kPromote > 0)
      MultiplyTileInParts(shared, place, row0, turns, !walk.HasNext(), sums, started);
    else
      MultiplyTile(shared, place, row0, sums, moments, started);
    if (Moments::kReadsStages || (kBefore && !first_tile)) FinishMoments(shared, consumer, moments);
    first_tile = false;
    if constexpr (Moments::kSeen) moments.Store(args, walk, row0, shared.MomentsOf(consumer));
    results.Store(args, sums, walk, row0);
  }
}
AICF_DEVICE void Consume(const Args& args, const SharedLayout& shared, int consumer) {
  if constexpr (kSplit > 1) {
    SplitStore results(shared.StoreMemory(consumer), shared.SplitBarriers(consumer),
                       shared.MomentsOf(consumer));
    Consume(args, shared, consumer, results);
  } else {
    WarpStore results(shared.StoreMemory(consumer), shared.MomentsOf(consumer),
                      shared.PartsOf(consumer));
    Consume(args, shared, consumer, results);
  }
}

/// Registers of a thread of the producer and of a consumer; together what the block starts with.
constexpr int kProducerRegisters = kConsumers != 2 ? 32 : StageScales::kWarps > 0 ? 40 : 24;
constexpr int kConsumerRegisters = kConsumers != 2 ? 160 : StageScales::kWarps > 0 ? 232 : 240;

/// The kernel. produce(args, shared) is the producer's part, for one thread, and
/// fetch_scales(args, shared) that of its last StageScales::kWarps warps. prefetch(args), for
/// one thread too, may bring operands into the cache while the kernel before this one still runs.
#define AICF_KERNEL_WAITS
template <class Produce, class Prefetch, class FetchScales>
AICF_DEVICE void RunProduct(const Args& args, const Produce& produce, const Prefetch& prefetch,
                            const FetchScales& fetch_scales) {
  const SharedLayout shared;
  if (threadIdx.x == 0) {
    PrefetchTensorMap(args.map[0]);
    PrefetchTensorMap(args.map[1]);
    InitBarriers(shared);
    prefetch(args);
  }
  // Blocks that share k meet only when they have sums to exchange.
  if constexpr (kSharing > 1) {
    ClusterBarrier();
  } else {
    if constexpr (kSplit > 1) ClusterArrive();
    __syncthreads();
  }
  WaitForPredecessors();
  LetSuccessorsStart();
  constexpr bool kMovesRegisters = kConsumers > 1 && !kThinProducer;
  constexpr int kProducer = kThinProducer ? kConsumers : 0;  ///< its warpgroup
  const int warpgroup = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / kWarpgroup, 0);
  if (warpgroup == kProducer) {
    if constexpr (kMovesRegisters) RegistersDown<kProducerRegisters>();
    if (threadIdx.x == kProducer * kWarpgroup) produce(args, shared);
    if constexpr (StageScales::kWarps > 0) {
      if (threadIdx.x % kWarpgroup >= kWarpgroup - 32 * StageScales::kWarps)
        fetch_scales(args, shared);
    }
  } else {
    if constexpr (kMovesRegisters) RegistersUp<kConsumerRegisters>();
    Consume(args, shared, kThinProducer ? warpgroup : warpgroup - 1);
  }
  // A block's shared memory outlives what others of the cluster send to it.
  if constexpr (kSharing > 1) ClusterBarrier();
}
/// The same for stages without scales.
template <class Produce, class Prefetch>
AICF_DEVICE void RunProduct(const Args& args, const Produce& produce, const Prefetch& prefetch) {
  RunProduct(args, produce, prefetch, [](const Args&, const SharedLayout&) {});
}

}  // namespace aicf
