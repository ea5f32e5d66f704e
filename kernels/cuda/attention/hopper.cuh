// cuda.attention.hopper: both products by Hopper's warpgroup products (wgmma), for 16-bit operands.
// A warpgroup has 64 rows; kConsumers of them make a block's tile and share its keys and values,
// which the copy engine brings in blocks of kTileKeys keys, the last block first. While the tensor
// cores multiply the weights of one block of keys by its values, the warpgroup turns the products
// of the next one into weights; and while one warpgroup does that, the others use the tensor cores
// (kTurns). Scores are masked only in blocks of keys that some rows do not see in full: the last
// one, those at the ends of a window, and those with pages outside the pool.
//
// The instance defines, beside what compiler/codegen/cuda_source.h lists,
//   kConsumers   warpgroups that multiply, 1 to 4
//   kTileKeys    keys of a block of them, 16 to 192
//   kStages      blocks of keys, and of values, in flight
//   kQueryStages tiles of queries in flight, 1 or 2; 1 without a producer
//   kProducer    1: a warpgroup of its own asks for the copies, tile after tile
//                0: a block has one tile, and its first thread asks for all copies at once, which
//                   kStages has to have room for
//   kTurns       1: consumers take turns at the tensor cores
//   kPack        1: a tile's rows are those of all query heads that read one key head
//                0: they are those of one query head
//   kFold        1: a block takes tiles from the two ends of a pair by turns (hopper_tile.cuh)
//   kSection     pairs of request and head that are worked on together (hopper_tile.cuh)
//   kPerSm       blocks that a multiprocessor is to hold
//   kHasScore    whether there is a score expression
//   TensorMap, Args::map   the tensor maps of q, k and v
//
// Tensor maps. The element type is the operand's, no interleaving, 128-byte swizzle, zeros outside,
// element steps 1. With (D, T, H, B) for the head's elements, tokens, heads and requests:
//   k, v         extents {D, T, H, B}, box {64, kTileKeys, 1, 1}; with pages of T keys and B of
//                them in the pool, box {64, the smaller of T and kTileKeys, 1, 1}
//   q            extents {D, T, H, B}, box {64, rows, 1, 1}, with rows = 64 * kConsumers
//   q, kPack     extents {D, group, T, key heads, B}, box {64, group, rows / group, 1, 1}
// An axis along which the operand repeats (stride 0) has extent 1.
//
// Illegal, and for the host to refuse:
//   - operands that are not all bf16 under math mode bf16 or all f16 under fp16
//   - an axis D of another stride than 1, or strides and offsets that are no multiples of 16 bytes
//   - no rows or no keys; heads of more than 256 elements
//   - pages that are no multiples of 8 keys, or neither hold whole tiles of kTileKeys nor fill one
//   - kTileKeys not among 16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192
//   - kPack where 64 * kConsumers is no multiple of the group; stages or tiles that kProducer = 0
//     does not have; more registers or shared memory than there are
// Workspace: none. Grid: any number of blocks with kProducer, otherwise one for each tile.
#pragma once

#define AICF_MIN_BLOCKS ::aicf::kPerSm

#include "attention/hopper_store.cuh"

namespace aicf {

AICF_DEVICE void InitBarriers(const SharedLayout& shared) {
  constexpr int kReaders = kConsumers * 4;  // warps
  for (int s = 0; s < kQueryStages; ++s) {
    BarrierInit(shared.QueryFull(s), 1);
    BarrierInit(shared.QueryEmpty(s), kReaders);
  }
  for (int r = 0; r < kRounds; ++r) {
    BarrierInit(shared.Full(r), 1);
    if constexpr (kProducer) {
      BarrierInit(shared.KeysEmpty(r), kReaders);
      BarrierInit(shared.ValuesEmpty(r), kReaders);
    }
  }
  BarrierInitFence();
}

/// What the producer's only thread does: it requests the queries, keys and values of all the
/// block's tiles. The first keys of a tile are requested before its queries, because queries have
/// to wait until those that they overwrite are no longer used.
struct Fetches {
  const Args& args;
  const SharedLayout& shared;
  RingPlace<kQueryStages> queries;
  RingPlace<kRounds> round;

  AICF_DEVICE void Queries(const TileWalk& tile) {
    BarrierWait(shared.QueryEmpty(queries.stage), queries.parity ^ 1);
    FetchQueries(args, shared, tile, queries.stage);
    queries.Next();
  }
  AICF_DEVICE void WaitFor(unsigned empty) const { BarrierWait(empty, round.parity ^ 1); }

  AICF_DEVICE void FirstRound(const FetchedBlock& keys) {
    WaitFor(shared.KeysEmpty(round.stage));
    keys.AnnounceKeys(shared, round.stage, false);
    keys.Keys(shared, round.stage);
    WaitFor(shared.ValuesEmpty(round.stage));
    round.Next();
  }
  AICF_DEVICE void Round(const FetchedBlock& keys, const FetchedBlock& values) {
    WaitFor(shared.KeysEmpty(round.stage));
    keys.AnnounceKeys(shared, round.stage, true);
    keys.Keys(shared, round.stage);
    WaitFor(shared.ValuesEmpty(round.stage));
    values.Values(shared, round.stage);
    round.Next();
  }
  AICF_DEVICE void LastRound(const FetchedBlock& values) {
    WaitFor(shared.KeysEmpty(round.stage));
    WaitFor(shared.ValuesEmpty(round.stage));
    BarrierArriveExpect(shared.Full(round.stage), kValueBytes);
    values.Values(shared, round.stage);
    round.Next();
  }
};

AICF_DEVICE void Produce(const Args& args, const SharedLayout& shared) {
  Fetches fetches = {args, shared};
  for (TileWalk tile; tile.Valid(); tile.Next()) {
    const Request request(args, tile.b);
    const KeyBlocks blocks(request, tile);
    if (blocks.begin == blocks.end) continue;
    FetchedBlock block = {args, tile, blocks.end - 1, request.valid};
    fetches.FirstRound(block);
    fetches.Queries(tile);
    while (block.block > blocks.begin) {
      const FetchedBlock before = block;
      --block.block;
      fetches.Round(block, before);
    }
    fetches.LastRound(block);
  }
}

/// Without a producer: requests everything that the block needs at once.
AICF_DEVICE void FetchAll(const Args& args, const SharedLayout& shared) {
  const TileWalk tile;
  const Request request(args, tile.b);
  const KeyBlocks blocks(request, tile);
  const int count = blocks.end - blocks.begin;
  if (count == 0) return;
  FetchQueries(args, shared, tile, 0);
  for (int r = 0; r <= count; ++r) {
    const FetchedBlock keys = {args, tile, blocks.end - 1 - r, request.valid};
    if (r < count) {
      keys.AnnounceKeys(shared, r, r > 0);
      keys.Keys(shared, r);
    } else {
      BarrierArriveExpect(shared.Full(r), kValueBytes);
    }
    const FetchedBlock values = {args, tile, blocks.end - r, request.valid};
    if (r > 0) values.Values(shared, r);
  }
}

AICF_DEVICE void Release(unsigned barrier) {
  if constexpr (kProducer) {
    if (threadIdx.x % 32 == 0) BarrierArrive(barrier);
  }
}

/// The turns of the consumers at the tensor cores. Consumer c waits at named barrier 1 + c for its
/// turn, and the one before it arrives there.
struct Turns {
  int consumer;
  static constexpr bool kTaken = kTurns && kConsumers > 1;

  AICF_DEVICE explicit Turns(int c) : consumer(c) {
    if constexpr (kTaken) {
      if (consumer == kConsumers - 1) NamedBarrierArrive(1, 2 * kWarpgroup);
    }
  }
  AICF_DEVICE void Begin() const {
    if constexpr (kTaken) NamedBarrierWait(1 + consumer, 2 * kWarpgroup);
  }
  AICF_DEVICE void End() const {
    if constexpr (kTaken) {
      NamedBarrierArrive(consumer + 1 == kConsumers ? 1 : 2 + consumer, 2 * kWarpgroup);
    }
  }
  /// Waits for the arrival that the last consumer's last turn has left at the first barrier.
  AICF_DEVICE void Finish() const {
    if constexpr (kTaken) {
      if (consumer == 0) NamedBarrierWait(1, 2 * kWarpgroup);
    }
  }
};

/// The blocks of keys that all rows of the tile see in full: those in [begin, end).
struct WholeBlocks {
  /// Whether these are, in every tile, all blocks but the one that is taken first (the last keys).
  static constexpr bool kAllButFirst = attr_window_left < 0 && attr_window_right < 0 && !attr_pages;
  int begin, end;

  AICF_DEVICE WholeBlocks(const Request& request, const TileWalk& tile) {
    const i64 last = tile.first + kRows < kTileRows ? tile.first + kRows : kTileRows;
    begin = (request.Begin(static_cast<int>((last - 1) / kPacked)) + kTileKeys - 1) / kTileKeys;
    end = request.End(static_cast<int>(tile.first / kPacked)) / kTileKeys;
  }
  /// kFirst: the block may be the one that is taken first.
  template <bool kFirst>
  AICF_DEVICE bool Has(int block) const {
    return (kAllButFirst && !kFirst) || (block >= begin && block < end);
  }
};

/// One consumer's share of one tile.
struct TileOfConsumer {
  const Args& args;
  const SharedLayout& shared;
  const TileWalk& tile;
  const Request& request;
  const WholeBlocks whole;
  int consumer;
  GroupRows& rows;

  template <bool kFirst>
  AICF_DEVICE void Load(int block, ScoreOperands& operands) const {
    if (whole.Has<kFirst>(block))
      rows.Load<false>(args, tile, block * kTileKeys, operands);
    else
      rows.Load<true>(args, tile, block * kTileKeys, operands);
  }
  /// Bits of the boxes of a round's keys that are in no page of the pool. To be read before the
  /// keys are released.
  AICF_DEVICE unsigned Absent(int round) const {
    if constexpr (attr_pages) return LoadWord(shared.Absent(round));
    return 0;
  }
  template <bool kFirst>
  AICF_DEVICE void Weigh(int block, unsigned absent, const ScoreOperands& operands) {
    if (whole.Has<kFirst>(block) && absent == 0)
      rows.Score<false>(operands, request, tile, block * kTileKeys, absent);
    else
      rows.Score<true>(operands, request, tile, block * kTileKeys, absent);
    rows.Soften();
  }

  /// Overwrites the values past the request's last key with zeros: they may be anything, and NaN
  /// stays NaN with a weight of 0. Only the first of the blocks that a consumer takes has any.
  /// Every consumer that reads them clears them, rather than wait for another to do so.
  AICF_DEVICE void ClearPastLast(int block, unsigned values) const {
    if constexpr (kLengths >= 0) {
      // The numbers of barriers below kFirstNumber are those of Turns.
      constexpr int kPieces = kLineBytes / 16, kFirstNumber = 5;
      const int kept = request.valid - block * kTileKeys;
      if (kept >= kTileKeys) return;
      const int thread = static_cast<int>(threadIdx.x) % kWarpgroup;
      for (int p = kept * kPieces + thread; p < kTileKeys * kPieces; p += kWarpgroup) {
#pragma unroll
        for (int i = 0; i < kValuePanels; ++i) {
          ClearPiece(values + i * kTileKeys * kLineBytes + p * 16);
        }
      }
      SharedWritesFence();
      NamedBarrierWait(kFirstNumber + consumer, kWarpgroup);
    }
  }

  /// End of the blocks of keys that the consumer's rows see; the tile's begin where they see none.
  AICF_DEVICE int OwnEnd(const KeyBlocks& blocks) const {
    const i64 own = tile.first + consumer * kWarpgroupRows, behind = own + kWarpgroupRows;
    if (own >= kTileRows) return blocks.begin;
    const i64 last = (behind < kTileRows ? behind : kTileRows) - 1;
    const int end = (request.End(static_cast<int>(last / kPacked)) + kTileKeys - 1) / kTileKeys;
    return end > blocks.begin ? end : blocks.begin;
  }

  AICF_DEVICE void Await(const RingPlace<kRounds>& round) const {
    BarrierWait(shared.Full(round.stage), round.parity);
  }

  /// Skips a round that the consumer's own rows do not need, and its turn. The consumer waits until
  /// the round's stage is filled before it frees it: before that, other consumers may still read
  /// what the stage held.
  AICF_DEVICE void Pass(const Turns& turns, bool has_turn, RingPlace<kRounds>& round) const {
    if constexpr (kProducer) {
      Await(round);
      Release(shared.KeysEmpty(round.stage));
      Release(shared.ValuesEmpty(round.stage));
    }
    round.Next();
    if (!has_turn) return;
    turns.Begin();
    turns.End();
  }

  /// Computes the weights of the first block of keys that the consumer takes, without waiting
  /// for a turn.
  AICF_DEVICE void First(int block, unsigned queries, RingPlace<kRounds>& round) {
    Await(round);
    ScoreOperands operands;
    rows.StartScores(queries, shared.Keys(round.stage));
    Load<true>(block, operands);
    const unsigned absent = Absent(round.stage);
    ProductsWait<0>();
    rows.HoldScores();
    Release(shared.KeysEmpty(round.stage));
    Release(shared.ValuesEmpty(round.stage));
    Weigh<true>(block, absent, operands);
    rows.RoundWeights();
    round.Next();
  }

  /// Computes the weights of `block`, while the tensor cores multiply the weights of the block
  /// taken before it by their values.
  AICF_DEVICE void Next(int block, const Turns& turns, unsigned queries, unsigned keys,
                        unsigned values, RingPlace<kRounds>& round) {
    Await(round);
    ClearPastLast(block + 1, values);
    turns.Begin();
    rows.StartScoresAndSums(queries, keys, values);
    turns.End();
    ScoreOperands operands;
    Load<false>(block, operands);
    const unsigned absent = Absent(round.stage);
    ProductsWait<1>();
    rows.HoldScores();
    Release(shared.KeysEmpty(round.stage));
    Weigh<false>(block, absent, operands);
    rows.FinishSums();
    Release(shared.ValuesEmpty(round.stage));
    rows.RoundWeights();
    round.Next();
  }

  /// Multiplies the weights of the block taken last by their values.
  AICF_DEVICE void Last(int block, RingPlace<kRounds>& round) {
    Await(round);
    ClearPastLast(block, shared.Values(round.stage));
    Release(shared.KeysEmpty(round.stage));
    rows.StartSums(shared.Values(round.stage));
    ProductsWait<0>();
    rows.HoldSums();
    Release(shared.ValuesEmpty(round.stage));
    round.Next();
  }

  /// `query` and `round` are the places in their rings of the tile's queries and first round;
  /// afterwards they are the places behind the tile's queries and last round.
  AICF_DEVICE void Run(const KeyBlocks& blocks, const Turns& turns, RingPlace<kQueryStages>& query,
                       RingPlace<kRounds>& round) {
    BarrierWait(shared.QueryFull(query.stage), query.parity);
    const int end = OwnEnd(blocks);
    for (int block = blocks.end - 1; block >= end; --block) {
      Pass(turns, block != blocks.begin, round);
    }
    if (end == blocks.begin) {
      Pass(turns, false, round);
    } else {
      const unsigned queries = shared.Query(query.stage) + consumer * kWarpgroupRows * kLineBytes;
      First(end - 1, queries, round);
#pragma unroll 1
      for (int block = end - 2; block >= blocks.begin; --block) {
        // SameInWarp tells the compiler that all lanes have the same addresses, so that these cost
        // only one instruction for each product.
        const unsigned keys = SameInWarp(shared.Keys(round.stage));
        const unsigned values = SameInWarp(shared.Values(round.stage));
        Next(block, turns, queries, keys, values, round);
      }
      Last(blocks.begin, round);
    }
    Release(shared.QueryEmpty(query.stage));
    query.Next();
  }
};

AICF_DEVICE void Consume(const Args& args, const SharedLayout& shared, int consumer) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32 % 4;
  const int row0 = consumer * kWarpgroupRows + warp * 16 + lane / 4;
  const Turns turns(consumer);
  RingPlace<kQueryStages> query;
  RingPlace<kRounds> round;
  GroupRows rows;
  for (TileWalk tile; tile.Valid(); tile.Next()) {
    const Request request(args, tile.b);
    const KeyBlocks blocks(request, tile);
    rows.Reset(tile, row0);
    if (blocks.begin < blocks.end) {
      TileOfConsumer own = {args,     shared, tile, request, WholeBlocks(request, tile),
                            consumer, rows};
      own.Run(blocks, turns, query, round);
    }
    StoreRows(args, tile, rows);
  }
  turns.Finish();
}

/// Registers of a thread of the producer and of a consumer; together what the block starts with.
constexpr int kProducerRegisters = kConsumers == 1 ? 56 : kConsumers == 3 ? 32 : 24;
constexpr int kConsumerRegisters = kConsumers == 1   ? 256
                                   : kConsumers == 2 ? 240
                                   : kConsumers == 3 ? 160
                                                     : 112;

AICF_DEVICE void Kernel(const Args& args) {
  const SharedLayout shared;
  if (threadIdx.x == 0) {
    for (int m = 0; m < 3; ++m) PrefetchTensorMap(args.map[m]);
    InitBarriers(shared);
    if constexpr (!kProducer) FetchAll(args, shared);
  }
  __syncthreads();
  const int warpgroup = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / kWarpgroup, 0);
  if constexpr (!kProducer) {
    Consume(args, shared, warpgroup);
  } else if (warpgroup == kConsumers) {
    if constexpr (kConsumers > 1) RegistersDown<kProducerRegisters>();
    if (threadIdx.x == kConsumers * kWarpgroup) Produce(args, shared);
  } else {
    if constexpr (kConsumers > 1) RegistersUp<kConsumerRegisters>();
    Consume(args, shared, warpgroup);
  }
}

}  // namespace aicf
