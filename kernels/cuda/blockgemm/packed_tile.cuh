// Loads tiles of B from its packed form (blockgemm/packed.h).
#pragma once

#include "blockgemm/packed_eight.cuh"

namespace aicf {

/// Every thread moves eights (eight elements of one column) of several columns. Neighbouring
/// threads have neighbouring columns, so that their stores go to different banks of shared memory.
/// A thread uses only part of a memory sector that it reads; the threads that use the rest find it
/// in the cache. Codes wait in registers, still packed, while the previous tile is multiplied.
template <>
struct LoadTileOf<true> {
  static constexpr int kRuns = kTileK / 32;
  static constexpr int kEights = kRuns * 4 * kTileN;
  static constexpr int kCount = MaxOf(1, (kEights + kBlockX - 1) / kBlockX);
  static_assert(kPackedB == 0 || kTileK % 32 == 0, "a tile has whole runs");

  index_t column0;
  index_t run0;
  PackedEight held[kCount];

  AICF_DEVICE void Init(const SourceB&, int, index_t column) { column0 = column; }

  struct Eight {
    int column, run, t;
    AICF_DEVICE explicit Eight(int number)
        : column(number % kTileN), run(number / kTileN / 4), t(number / kTileN % 4) {}
  };
  static AICF_DEVICE bool IsIdle(int number) { return kEights % kBlockX != 0 && number >= kEights; }
  AICF_DEVICE bool Has(const Eight& eight) const {
    return column0 + eight.column < kColumns && (run0 + eight.run) * 32 < kLength;
  }
  AICF_DEVICE int RunOfChunk(const Eight& eight) const {
    return static_cast<int>((run0 + eight.run) % Chunk::kRuns);
  }

  AICF_DEVICE void Fetch(const SourceB& source, int thread, index_t k0, tile_t*) {
    run0 = k0 / 32;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const int number = thread + i * kBlockX;
      if (IsIdle(number)) break;
      const Eight eight(number);
      if (!Has(eight)) continue;
      const index_t n = column0 + eight.column;
      held[i].Load(ChunkAt(source.base, n / 16, (run0 + eight.run) / Chunk::kRuns),
                   static_cast<int>(n % 16), eight.t, RunOfChunk(eight));
    }
  }

  AICF_DEVICE void Commit(int thread, tile_t* tile) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const int number = thread + i * kBlockX;
      if (IsIdle(number)) break;
      const Eight eight(number);
      float values[8] = {};
      if (Has(eight)) {
        held[i].Decode(static_cast<int>((column0 + eight.column) % 16), RunOfChunk(eight), values);
      }
      tile_t* to = tile + eight.run * 32 * kPitchB + eight.column;
#pragma unroll
      for (int e = 0; e < 8; ++e) {
        to[ElementOfLane(eight.t, e) * kPitchB] = ToTile<tile_t>(values[e]);
      }
    }
  }
};

}  // namespace aicf
