// cuda.gemm.hopper: out[b, m, n] = epilogue(sum_k A[b, m, k] * B[b, k, n]) by Hopper's own means.
// One warpgroup (the producer) asks the copy engine for tiles of A and B, kStages of them ahead;
// kConsumers warpgroups multiply them out of shared memory. Blocks stay and take tile after tile,
// so that the copies for the next tile run during the epilogue of this one. Blocks of a cluster
// share tiles: each fetches a part and sends it to all that need it. With kSplit they share the k
// of one tile instead, and each finishes a part of it from the sums of all (gemm/hopper_split.cuh).
//
// The instance defines, beside what compiler/codegen/cuda_source.h lists,
//   kTileM, kTileN, kTileK  the block's tile
//   kStages                 tiles in flight
//   kSplit                  blocks of a cluster that share out k; without it (1):
//   kClusterM               blocks of a cluster along m; kClusterX / kClusterM of them along n
//   kConsumers              warpgroups that multiply
//   kGroupM                 rows of cluster tiles that are walked together (1 or more)
//   kSwap                   the tensor cores' rows are n instead of m (for few m, and the faster
//                           choice for an output that is contiguous along m)
//   kPingPong               every consumer has tiles of its own, and one's epilogue runs while
//                           another multiplies; otherwise the consumers share the rows of one tile
//   TensorMap               alignas(64), 128 bytes
//   Args::map               addresses of the tensor maps of A and of B
//
// Tensor maps. Rank 3, element type that of the operand (f32: TFLOAT32, which rounds on the way),
// no interleaving, 128-byte swizzle, zeros outside, element strides 1, 1, 1. The base address
// includes the view's offset. With peers = kClusterX / kClusterM for A and kClusterM for B, and
// tile = kTileM for A and kTileN for B (mn stands for m in A and for n in B):
//   stride of k is 1:              extents {k, mn, batch}, strides of mn and batch in bytes,
//                                  box {kTileK, tile / peers, 1}
//   otherwise, stride of mn is 1:  extents {mn, k, batch}, strides of k and batch in bytes,
//                                  box {64, kTileK, 1}, or, where tile / 64 is not a multiple of
//                                  peers, {64, kTileK / peers, 1}
// The batch is the output's, in the order of its memory: an operand moves along it with one stride,
// or, where all its batch strides are 0, has extent 1 there and stays. The stride of an axis with
// one element may be any legal one.
//
// Illegal, and for the host to refuse:
//   - operands that are not both bf16, both f16, or both f32 under tf32; a sum that is not f32
//   - no k; no axis of stride 1 among k and mn; f32 with the stride of k other than 1
//   - an address, or a stride of an axis with several elements other than the innermost, that is
//     not a multiple of 16 bytes; negative strides; strides of 2^40 bytes and more; extents above
//     2^31 - 1 - 512; batch axes that one stride does not walk
//   - kTileK other than 128 bytes of elements
//   - kTileN (kSwap: kTileM) not among 8, 16, 32, 64, 96, 128, 160, 192, 256
//   - kTileM (kSwap: kTileN) not a multiple of 64 * kConsumers (kPingPong: of 64)
//   - more sums of a thread, (rows of a consumer / 64) * (columns / 2), than fit its registers:
//     160 with 1 or 2 consumers, 96 with 3
//   - along k: tile / peers not a multiple of 8 or above 256; across k: tile not a multiple of
//     64
//   - kClusterX above 8 or not a multiple of kClusterM, clusters in both directions (kClusterM and
//     kClusterX / kClusterM both above 1), a grid that is not whole clusters
//   - kPingPong with fewer than 2 consumers, or with kSplit above 1
//   - kSplit above 1 and other than kClusterX, with kClusterM above 1, or above the steps of k
//   - threads other than 128 * (kConsumers + 1), kConsumers outside 1 to 3
//   - dynamic shared memory below SharedBytes = 1024 + kStages * (kTileM + kTileN) * 128 +
//     kConsumers * 16384 + 16 * kStages, and with kSplit above 1 kConsumers * 64 more, which must
//     not exceed 232448; kStages below 2
// Workspace: none. Grid: kClusterX times the number of clusters that stay, any number of them.
#pragma once

#include "common/mbarrier.cuh"
#include "gemm/hopper_store.cuh"

namespace aicf {

constexpr int kWarpgroup = 128;
constexpr int kSharedBytes = kPatternBytes + kStages * kStageBytes +
                             kConsumers * 4 * kWarpStoreFloats * 4 + 16 * kStages +
                             (kSplit > 1 ? kConsumers * 4 * PartsExchange::kBarrierBytes : 0);
static_assert(kBlockX == kWarpgroup * (kConsumers + 1), "one producer and kConsumers warpgroups");
static_assert(kDynamicShared >= kSharedBytes, "the launch has the tile's shared memory");
static_assert(kStages >= 2 && kConsumers >= 1 && kConsumers <= 3, "as above");
static_assert(!kPingPong || (kConsumers > 1 && kSplit == 1),
              "taking turns needs two, and all of k");
static_assert(kClusterM == 1 || kClusterN == 1, "clusters in one direction");

/// Shared memory: the stages, then the warps' memory for their results, then the barriers.
struct SharedLayout {
  char* start;
  unsigned tiles, barriers;

  AICF_DEVICE SharedLayout() {
    char* memory = DynamicShared();
    const unsigned past = SharedAddress(memory) % kPatternBytes;
    start = memory + (kPatternBytes - past) % kPatternBytes;
    tiles = SharedAddress(start);
    barriers = tiles + kStages * kStageBytes + kConsumers * 4 * kWarpStoreFloats * 4;
  }
  AICF_DEVICE unsigned A(int stage) const { return tiles + stage * kStageBytes; }
  AICF_DEVICE unsigned B(int stage) const { return A(stage) + kTileM * kLineBytes; }
  AICF_DEVICE unsigned Full(int stage) const { return barriers + 8 * stage; }
  AICF_DEVICE unsigned Empty(int stage) const { return barriers + 8 * (kStages + stage); }
  AICF_DEVICE float* WarpMemory(int warp) const {
    return reinterpret_cast<float*>(start + kStages * kStageBytes) + warp * kWarpStoreFloats;
  }
  AICF_DEVICE unsigned ExchangeBarriers(int warp) const {
    return barriers + 16 * kStages + warp * PartsExchange::kBarrierBytes;
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
  constexpr int kReaders = (kPingPong ? 1 : kConsumers) * 4 * kSharing;
  for (int s = 0; s < kStages; ++s) {
    BarrierInit(shared.Full(s), 1);
    BarrierInit(shared.Empty(s), kReaders);
  }
  if constexpr (kSplit > 1) {
    for (int w = 0; w < kConsumers * 4; ++w) PartsExchange::Init(shared.ExchangeBarriers(w));
  }
  BarrierInitFence();
}

/// The producer, one thread: all stages of all the block's tiles.
AICF_DEVICE void Produce(const Args& args, const SharedLayout& shared) {
  constexpr unsigned kAll = (1u << kSharing) - 1;
  const StepRange steps;
  RingPlace place;
  for (TileWalk walk; walk.Valid(); walk.Next()) {
    const int row = static_cast<int>(walk.row0), column = static_cast<int>(walk.column0);
    const int batch_a = BatchOf<In0>(walk.batch), batch_b = BatchOf<In1>(walk.batch);
#pragma unroll 1
    for (index_t step = steps.first; step < steps.end; ++step, place.Next()) {
      const int k = static_cast<int>(step) * kTileK;
      const unsigned full = shared.Full(place.stage);
      BarrierWait(shared.Empty(place.stage), place.parity ^ 1);
      BarrierArriveExpect(full, kStageBytes);
      TileA::Fetch(args.map[0], shared.A(place.stage), full, row, k, batch_a, walk.rank_n, kAll);
      TileB::Fetch(args.map[1], shared.B(place.stage), full, column, k, batch_b, walk.rank_m, kAll);
    }
  }
}

/// Frees a stage for the producers that write into it.
AICF_DEVICE void Release(const SharedLayout& shared, int stage) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (lane < kSharing) BarrierArriveAt(shared.Empty(stage), kSplit > 1 ? RankInCluster() : lane);
}

/// Adds one stage's products; `row0` is the consumer's first row within the tile.
AICF_DEVICE void MultiplyStage(const SharedLayout& shared, int stage, int row0, bool first,
                               Sums& sums) {
  const u64 a = TileA::Operand(shared.A(stage) + (kSwap ? 0 : row0 * kLineBytes));
  const u64 b = TileB::Operand(shared.B(stage) + (kSwap ? row0 * kLineBytes : 0));
  ProductsBegin();
#pragma unroll
  for (int k = 0; k < kStageSteps; ++k) {
#pragma unroll
    for (int i = 0; i < kBlocksOfRows; ++i) {
      // Addresses are counted in 16 bytes; 64 rows are 64 lines either way.
      const u64 own = i * (64 * kLineBytes / 16);
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

/// The sums of one tile. A stage is freed once the products after it are under way.
template <class Started>
AICF_DEVICE void MultiplyTile(const SharedLayout& shared, RingPlace& place, int row0, Sums& sums,
                              Started&& started) {
  const StepRange steps;
  int last = 0;
#pragma unroll 1
  for (index_t step = steps.first; step < steps.end; ++step, place.Next()) {
    const bool first = step == steps.first;
    BarrierWait(shared.Full(place.stage), place.parity);
    MultiplyStage(shared, place.stage, row0, first, sums);
    ProductsWait<1>();
    if (!first) Release(shared, last);
    last = place.stage;
  }
  started();
  ProductsWait<0>();
  Release(shared, last);
  sums.Hold();
}

/// One consumer: its rows of every tile of the block, or every kConsumers-th tile.
AICF_DEVICE void Consume(const Args& args, const SharedLayout& shared, int consumer) {
  const int warp = static_cast<int>(threadIdx.x - kWarpgroup) / 32;
  StoreMemory memory(shared.WarpMemory(warp), shared.ExchangeBarriers(warp));
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
    const index_t rows = (kSwap ? walk.column0 : walk.row0) + row0;
    const index_t columns = kSwap ? walk.row0 : walk.column0;
    memory.Ask(args, Sums::PlaceOf(0, rows, columns, walk.batch));
    MultiplyTile(shared, place, row0, sums, [&] {
      if constexpr (kPingPong) {
        if (walk.HasNext()) NamedBarrierArrive(1 + turn, 2 * kWarpgroup);
      }
    });
    sums.Store(args, memory, rows, columns, walk.batch);
  }
}

/// Registers of a thread of the producer and of a consumer; together what the block starts with.
constexpr int kProducerRegisters = kConsumers == 2 ? 24 : 32;
constexpr int kConsumerRegisters = kConsumers == 2 ? 240 : 160;

AICF_DEVICE void Kernel(const Args& args) {
  const SharedLayout shared;
  if (threadIdx.x == 0) {
    PrefetchTensorMap(args.map[0]);
    PrefetchTensorMap(args.map[1]);
    InitBarriers(shared);
  }
  if constexpr (kClusterX > 1)
    ClusterBarrier();
  else
    __syncthreads();
  const int warpgroup = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / kWarpgroup, 0);
  if (warpgroup == 0) {
    if constexpr (kConsumers > 1) RegistersDown<kProducerRegisters>();
    if (threadIdx.x == 0) Produce(args, shared);
  } else {
    if constexpr (kConsumers > 1) RegistersUp<kConsumerRegisters>();
    Consume(args, shared, warpgroup - 1);
  }
  // A block's shared memory outlives what others of the cluster send to it.
  if constexpr (kClusterX > 1) ClusterBarrier();
}

}  // namespace aicf
