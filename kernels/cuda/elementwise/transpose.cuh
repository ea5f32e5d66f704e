// cuda.elementwise.transpose: like cuda.elementwise.map, for a first operand that is contiguous
// along another axis than the results. A block transposes tiles of it in shared memory, so that
// both its elements and the results move in whole lines. All other operands are read directly, in
// the order of the results.
#pragma once

#include "common/turned.cuh"

namespace aicf {

constexpr int kTileFrom = 32;  ///< extent of a tile along the operand's lines
constexpr int kTileTo = 64;    ///< extent of a tile along the results' lines
constexpr int kLoadLines = kBlockX / kTileFrom;
constexpr int kLanes = kTileTo / kVector;  ///< threads that store a line of results
constexpr int kStoreLines = kBlockX / kLanes;
static_assert(kBlockX % kTileFrom == 0 && kTileTo % kLoadLines == 0, "whole lines are read");
static_assert(kBlockX % kLanes == 0, "whole lines are stored");

constexpr index_t kFromExtent = In0::extent(kFrom), kToExtent = In0::extent(kTo);
constexpr index_t kTilesFrom = (kFromExtent + kTileFrom - 1) / kTileFrom;
constexpr index_t kTilesTo = (kToExtent + kTileTo - 1) / kTileTo;
constexpr index_t kTiles = kOutputCount0 / (kFromExtent * kToExtent) * kTilesFrom * kTilesTo;
static_assert(kToExtent % kVector == 0, "whole vectors of results");

typedef In0::S tile_t;
typedef tile_t TileMemory[kTileTo][kTileFrom + 1];

/// A tile's place: its first element along both axes, in the operand and among the results.
struct TilePlace {
  index_t from, to, in, out;

  AICF_DEVICE explicit TilePlace(index_t tile) {
    from = tile % kTilesFrom * kTileFrom;
    to = tile / kTilesFrom % kTilesTo * kTileTo;
    in = In0::kOffset + from * In0::stride(kFrom) + to * In0::stride(kTo);
    out = from * OutputWeight(kFrom) + to * OutputWeight(kTo);
    index_t rest = tile / (kTilesFrom * kTilesTo);
#pragma unroll
    for (int d = In0::kRank - 1; d >= 0; --d) {
      if (d == kFrom || d == kTo) continue;
      const index_t c = rest % In0::extent(d);
      rest /= In0::extent(d);
      in += c * In0::stride(d);
      out += c * OutputWeight(d);
    }
  }
};

AICF_DEVICE void LoadTile(const Args& args, const TilePlace& place, TileMemory& memory) {
  const tile_t* operand = static_cast<const tile_t*>(args.in[0]) + place.in;
  const int x = static_cast<int>(threadIdx.x) % kTileFrom;
  const int y0 = static_cast<int>(threadIdx.x) / kTileFrom;
  tile_t held[kTileTo / kLoadLines];
#pragma unroll
  for (int i = 0; i < kTileTo / kLoadLines; ++i) {
    const int y = y0 + i * kLoadLines;
    if (place.from + x < kFromExtent && place.to + y < kToExtent) {
      held[i] = operand[x * In0::stride(kFrom) + y * In0::stride(kTo)];
    }
  }
#pragma unroll
  for (int i = 0; i < kTileTo / kLoadLines; ++i) memory[y0 + i * kLoadLines][x] = held[i];
}

AICF_DEVICE void StoreTile(const Args& args, const TilePlace& place, const TileMemory& memory) {
  const int to = static_cast<int>(threadIdx.x) % kLanes * kVector;
  if (place.to + to >= kToExtent) return;
#pragma unroll
  for (int y = 0; y < kTileFrom; y += kStoreLines) {
    const int from = y + static_cast<int>(threadIdx.x) / kLanes;
    if (from >= kTileFrom || place.from + from >= kFromExtent) continue;
    const index_t i = place.out + from * OutputWeight(kFrom) + to * OutputWeight(kTo);
    Epilogue::Operands<kVector> operands;
    operands.Load(args, i, 0, 0);
    // The first operand's elements come from the tile. What Load has read of it is overwritten
    // unused, so that the compiler drops that read.
#pragma unroll
    for (int j = 0; j < kVector; ++j) operands.extra0.packs[j].v[0] = memory[to + j][from];
    Epilogue::Store<kVector>(args, operands, i, 0, 0);
  }
}

AICF_DEVICE void Kernel(const Args& args) {
  __shared__ TileMemory memory;
  for (index_t tile = blockIdx.x; tile < kTiles; tile += kGridX) {
    const TilePlace place(tile);
    LoadTile(args, place, memory);
    __syncthreads();
    StoreTile(args, place, memory);
    __syncthreads();
  }
}

}  // namespace aicf
