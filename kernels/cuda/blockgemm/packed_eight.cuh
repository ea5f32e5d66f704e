// Decodes eight elements of a row of B from its packed form (blockgemm/packed.h).
#pragma once

#include "blockgemm/packed.cuh"

namespace aicf {

/// The scale and minimum of each group of one row in a chunk.
struct RowPairs {
  static constexpr int kCount = MaxOf(1, Chunk::kGroups);
  GroupScale of[kCount];

  AICF_DEVICE RowPairs(const char* chunk, int row) {
#pragma unroll
    for (int group = 0; group < kCount; ++group) {
      of[group] = Scales::Pair(chunk + Chunk::kCodesBytes, row, group / kOwn, group % kOwn);
    }
  }
  /// The scale and minimum of the chunk's element k.
  AICF_DEVICE const GroupScale& OfElement(int k) const {
    return of[Chunk::kGroups > 0 ? k / MaxOf(1, Chunk::kGroup) : 0];
  }
};

/// The eight elements of a row that a lane has of one run: their codes as they lie in the planes,
/// and their scales and minimums.
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
  /// Like Load, but from a lane that already holds its words of the chunk and the scales and
  /// minimums of the row. `half` is 0 for the lane's row g and 1 for its row g + 8. REQUIRES that
  /// `run` is known at compile time.
  AICF_DEVICE void Take(const LaneCodes& codes, const RowPairs& pairs, int half, int run) {
    const int unit = run * 2 + half;
#pragma unroll
    for (int j = 0; j < kLow; ++j) low[j] = codes.low[unit * Chunk::kLow / 4 + j];
    if constexpr (kHigh > 0) high[0] = codes.high[unit * Chunk::kHigh / 4];
#pragma unroll
    for (int i = 0; i < 2; ++i) pair[i] = pairs.OfElement(run * 32 + i * 16);
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

  /// Rotates a word of a plane of kPlane bits so that the codes of `unit` begin at its lowest bit.
  template <int kPlane>
  static AICF_DEVICE u32 Moved(u32 word, int unit) {
    constexpr int kUnits = MaxOf(1, 4 / kPlane);  // that share a word
    const int right = unit % kUnits * kPlane * 4 + Rotation<kPlane>();
    return right == 0 ? word : word >> right | word << (32 - right);
  }
  /// Code e from a plane.
  template <int kPlane, int N>
  static AICF_DEVICE u32 CodeOf(const u32 (&words)[N], int e) {
    constexpr int kPairs = 16 / kPlane;
    const u32 word = words[e / 2 / kPairs];
    return word >> (e / 2 % kPairs * kPlane + e % 2 * 16) & ((1u << kPlane) - 1);
  }

  AICF_DEVICE float Element(int e) const {
    if constexpr (kFormat == block_format::kF32) {
      return __uint_as_float(low[e]);
    } else if constexpr (kFormat == block_format::kBF16) {
      return __uint_as_float(low[e / 2] >> (e % 2 * 16) << 16);
    } else if constexpr (kFormat == block_format::kF16) {
      return e % 2 == 0 ? LowHalf(low[e / 2]) : HighHalf(low[e / 2]);
    } else {
      u32 code = CodeOf<Chunk::kLow>(low, e);
      if constexpr (Chunk::kHigh > 0)
        code |= CodeOf<MaxOf(1, Chunk::kHigh)>(high, e) << Chunk::kLow;
      if constexpr (Chunk::kBits == 8) code ^= 128;
      const GroupScale& own = pair[e / 4];
      return own.scale * FromTwo23(code | kTwo23, Chunk::kZero) - own.minimum;
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

}  // namespace aicf
