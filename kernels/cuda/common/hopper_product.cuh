// What the products on Hopper's own instructions share. One warpgroup (the producer) asks the copy
// engine for stages of A and B, up to kStages of them ahead; kConsumers warpgroups multiply them
// out of shared memory. Blocks may stay and take tile after tile, so that the copies for the next
// tile run during the epilogue of this one.
//
// Beside what common/hopper_stage.cuh lists, the includer defines
//   TileA, TileB    StageOperand of each operand, or derived from it
//   TileWalk        the block's tiles: Valid(), Next(), HasNext()
//   kSteps          stages that the block's part of a tile takes
//   kWriters        blocks of the cluster that write into a stage of this one
//   kStoreBytes     shared memory for the results: kWarpStoreBytes for each warp of the consumers,
//                   or none where they lie over the stages
#pragma once

#include "common/hopper_sums.cuh"
#include "common/mbarrier.cuh"

namespace aicf {

constexpr int kWarpgroup = 128;
constexpr int kSharedBytes = kPatternBytes + kStages * kStageBytes + kStoreBytes + 16 * kStages;
static_assert(kBlockX == kWarpgroup * (kConsumers + 1), "one producer and kConsumers warpgroups");
static_assert(kDynamicShared >= kSharedBytes, "the launch has the tile's shared memory");
static_assert(kStages >= 2 && kConsumers >= 1 && kConsumers <= 3, "as the host checks");
static_assert(!kPingPong || kConsumers > 1, "taking turns needs two");

/// Shared memory: the stages, then the warps' memory for their results, then the barriers. B comes
/// first in a stage: it is whole patterns whatever the tile.
struct SharedLayout {
  char* start;
  unsigned tiles, barriers;

  AICF_DEVICE SharedLayout() {
    char* memory = DynamicShared();
    const unsigned past = SharedAddress(memory) % kPatternBytes;
    start = memory + (kPatternBytes - past) % kPatternBytes;
    tiles = SharedAddress(start);
    barriers = tiles + kStages * kStageBytes + kStoreBytes;
  }
  AICF_DEVICE unsigned A(int stage) const { return B(stage) + kTileN * kRowBytes; }
  AICF_DEVICE unsigned B(int stage) const { return tiles + stage * kStageBytes; }
  AICF_DEVICE unsigned Full(int stage) const { return barriers + 8 * stage; }
  AICF_DEVICE unsigned Empty(int stage) const { return barriers + 8 * (kStages + stage); }
  AICF_DEVICE float* WarpMemory(int warp) const {
    return reinterpret_cast<float*>(start + kStages * kStageBytes) + warp * kWarpStoreFloats;
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

AICF_DEVICE void InitBarriers(const SharedLayout& shared) {
  // Every warp that reads a stage frees it at every block that wrote into it.
  constexpr int kReaders = (kPingPong ? 1 : kConsumers) * 4 * kWriters;
  for (int s = 0; s < kStages; ++s) {
    BarrierInit(shared.Full(s), 1);
    BarrierInit(shared.Empty(s), kReaders);
  }
  BarrierInitFence();
}

/// Frees a stage for those who write into it.
AICF_DEVICE void Release(const SharedLayout& shared, int stage) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if constexpr (kWriters > 1) {
    if (lane < kWriters) BarrierArriveAt(shared.Empty(stage), lane);
  } else {
    if (lane == 0) BarrierArrive(shared.Empty(stage));
  }
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
        Products<kColumns>::Add<!TileB::kAlongK, !TileA::kAlongK>(tile_t{}, sums.d[i], y, x, add);
      else
        Products<kColumns>::Add<!TileA::kAlongK, !TileB::kAlongK>(tile_t{}, sums.d[i], x, y, add);
    }
  }
  ProductsCommit();
}

/// The sums of one tile over `steps` stages, at least one. A stage is freed once the products after
/// it are under way.
template <class Started>
AICF_DEVICE void MultiplyTile(const SharedLayout& shared, RingPlace& place, index_t steps, int row0,
                              Sums& sums, Started&& started) {
  int last = 0;
#pragma unroll 1
  for (index_t step = 0; step < steps; ++step, place.Next()) {
    BarrierWait(shared.Full(place.stage), place.parity);
    MultiplyStage(shared, place.stage, row0, step == 0, sums);
    ProductsWait<1>();
    if (step > 0) Release(shared, last);
    last = place.stage;
  }
  started();
  ProductsWait<0>();
  Release(shared, last);
  sums.Hold();
}

/// One consumer: its rows of every tile of the block, or every kConsumers-th tile.
/// store(walk, sums, row0, memory) stores the sums of the rows from row0 of the tile on.
template <class Store>
AICF_DEVICE void Consume(const SharedLayout& shared, int consumer, const Store& store) {
  float* memory = shared.WarpMemory(static_cast<int>(threadIdx.x - kWarpgroup) / 32);
  const int row0 = kPingPong ? 0 : consumer * kConsumerRows;
  RingPlace place;
  Sums sums = {};
  int turn = 0;
  bool began = false;
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
    MultiplyTile(shared, place, kSteps, row0, sums, [&] {
      if constexpr (kPingPong) {
        if (walk.HasNext()) NamedBarrierArrive(1 + turn, 2 * kWarpgroup);
      }
    });
    store(walk, sums, row0, memory);
  }
}

/// Registers of a thread of the producer and of a consumer; together what the block starts with.
constexpr int kProducerRegisters = kConsumers == 2 ? 24 : 32;
constexpr int kConsumerRegisters = kConsumers == 2 ? 240 : 160;

/// Gives each warpgroup its part: produce() to one thread of the first, consume(number) to the
/// others. With kMovesRegisters the producer's go to the consumers, and it can compute nothing
/// more.
template <bool kMovesRegisters, class Produce, class Consume>
AICF_DEVICE void RunWarpgroups(const Produce& produce, const Consume& consume) {
  const int warpgroup = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / kWarpgroup, 0);
  if (warpgroup == 0) {
    if constexpr (kMovesRegisters) RegistersDown<kProducerRegisters>();
    if (threadIdx.x == 0) produce();
  } else {
    if constexpr (kMovesRegisters) RegistersUp<kConsumerRegisters>();
    consume(warpgroup - 1);
  }
}

}  // namespace aicf
