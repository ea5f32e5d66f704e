// Tiles of B from its packed form (blockgemm/packed.h).
#pragma once

#include "blockgemm/packed.cuh"

namespace aicf {

/// A lane's eight elements of a run of one row: their codes as they lie in the planes, and their
/// pair.
struct PackedEight {
  static constexpr int kLow = MaxOf(1, Chunk::kLow / 4), kHigh = Chunk::kHigh > 0 ? 1 : 0;
  u32 low[kLow], high[MaxOf(1, kHigh)];
  GroupScale pair[2];  ///< of elements 0 to 3 and 4 to 7

  /// Row `row` of a panel, lane part t, run `run` of a chunk.
  AICF_DEVICE void Load(const char* chunk, int row, int t, int run) {
    const char* lane = chunk + (row % 8 * 4 + t) * 16;
    const int unit = run * 2 + row / 8;
    const int word = unit * Chunk::kLow / 4;
#pragma unroll
    for (int j = 0; j < kLow; ++j) low[j] = WordOf(lane, word + j);
    if constexpr (kHigh > 0) {
      high[0] = WordOf(lane + 128 * Chunk::kLowWords, unit * Chunk::kHigh / 4);
    }
    if constexpr (Chunk::kGroups > 0) LoadPairs(chunk + Chunk::kCodesBytes, row, run);
  }
  static AICF_DEVICE u32 WordOf(const char* lane, int word) {
    return *reinterpret_cast<const u32*>(lane + word / 4 * 512 + word % 4 * 4);
  }
  AICF_DEVICE void LoadPairs(const char* scales, int row, int run) {
    constexpr int kOfRun = Chunk::kGroup == 16 ? 2 : 1;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int group = run * kOfRun + (kOfRun == 2 ? i : 0);
      pair[i] =
          kOfRun == 2 || i == 0 ? Scales::Pair(scales, row, group / kOwn, group % kOwn) : pair[0];
    }
  }

  /// The codes of a plane of kPlane bits from its word on, moved to the word's first bits.
  template <int kPlane>
  static AICF_DEVICE u32 Moved(u32 word, int unit) {
    constexpr int kUnits = MaxOf(1, 4 / kPlane);  // that share a word
    const int right = unit % kUnits * kPlane * 4 + Rotation<kPlane>();
    return right == 0 ? word : word >> right | word << (32 - right);
  }
  /// Code e from a plane.
  template <int kPlane, int N>
  static AICF_DEVICE int CodeOf(const u32 (&words)[N], int e) {
    constexpr int kPairs = 16 / kPlane;
    const u32 word = words[e / 2 / kPairs];
    return static_cast<int>(word >> (e / 2 % kPairs * kPlane + e % 2 * 16)) & ((1 << kPlane) - 1);
  }

  AICF_DEVICE float Element(int e) const {
    if constexpr (kFormat == block_format::kF32) {
      return __uint_as_float(low[e]);
    } else if constexpr (kFormat == block_format::kBF16) {
      return __uint_as_float(low[e / 2] >> (e % 2 * 16) << 16);
    } else if constexpr (kFormat == block_format::kF16) {
      return e % 2 == 0 ? LowHalf(low[e / 2]) : HighHalf(low[e / 2]);
    } else {
      int code = CodeOf<Chunk::kLow>(low, e);
      if constexpr (Chunk::kHigh > 0)
        code |= CodeOf<MaxOf(1, Chunk::kHigh)>(high, e) << Chunk::kLow;
      if constexpr (Chunk::kBits == 8) code ^= 128;
      const GroupScale& own = pair[e / 4];
      return own.scale * static_cast<float>(code - Chunk::kZero) - own.minimum;
    }
  }

  AICF_DEVICE void Decode(int row, int run, float (&out)[8]) {
    const int unit = run * 2 + row / 8;
    if constexpr (Chunk::kLow <= 4) low[0] = Moved<Chunk::kLow>(low[0], unit);
    if constexpr (kHigh > 0) high[0] = Moved<MaxOf(1, Chunk::kHigh)>(high[0], unit);
#pragma unroll
    for (int e = 0; e < 8; ++e) out[e] = Element(e);
  }
};

/// Every thread moves the eights of several columns. Neighbouring threads have neighbouring
/// columns, so that they store into different banks; what they read of a sector the next ones find
/// in the cache. Codes wait in registers as they are while the tile before is multiplied.
template <>
struct LoadTileOf<true> {
  static constexpr int kRuns = kTileK / 32;
  static constexpr int kEights = kRuns * 4 * kTileN;
  static constexpr int kCount = (kEights + kBlockX - 1) / kBlockX;
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
