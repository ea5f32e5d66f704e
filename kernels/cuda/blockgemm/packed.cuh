// The device's view of B in the packed form of blockgemm/packed.h: what a lane finds in a chunk.
// REQUIRES that the including file has defined kFormat, kColumns (B's rows of blocks) and kLength
// (elements of each of them).
#pragma once

#include "common/blocks.cuh"

namespace aicf {

/// The layout of a chunk: bits of a code in its first and in its second plane, elements along k,
/// groups of a row that have a scale (0: there are none), bytes of the chunk's scales, and what is
/// subtracted from a code.
template <int kLowBits, int kHighBits, int kChunkDepth, int kChunkGroups, int kScaleBytes,
          int kOffset>
struct ChunkCut {
  static constexpr int kLow = kLowBits, kHigh = kHighBits, kBits = kLow + kHigh;
  static constexpr int kDepth = kChunkDepth, kGroups = kChunkGroups, kZero = kOffset;
  static constexpr int kRuns = kDepth / 32;
  /// Elements that share a scale; 0: none do.
  static constexpr int kGroup = kGroups > 0 ? kDepth / MaxOf(1, kGroups) : 0;
  static constexpr int kLowWords = kDepth * kLow / 64, kHighWords = kDepth * kHigh / 64;
  static constexpr int kCodesBytes = 128 * (kLowWords + kHighWords);
  static constexpr int kBytes = kCodesBytes + kScaleBytes;
};
template <int kFormat>
struct ChunkOf;
template <>
struct ChunkOf<block_format::kF32> : ChunkCut<32, 0, 32, 0, 0, 0> {};
template <>
struct ChunkOf<block_format::kF16> : ChunkCut<16, 0, 64, 0, 0, 0> {};
template <>
struct ChunkOf<block_format::kBF16> : ChunkCut<16, 0, 64, 0, 0, 0> {};
template <>
struct ChunkOf<block_format::kQ4_0> : ChunkCut<4, 0, 256, 8, 256, 8> {};
template <>
struct ChunkOf<block_format::kQ4_1> : ChunkCut<4, 0, 256, 8, 512, 0> {};
template <>
struct ChunkOf<block_format::kQ5_0> : ChunkCut<4, 1, 256, 8, 256, 16> {};
template <>
struct ChunkOf<block_format::kQ5_1> : ChunkCut<4, 1, 256, 8, 512, 0> {};
template <>
struct ChunkOf<block_format::kQ8_0> : ChunkCut<8, 0, 128, 4, 128, 128> {};
template <>
struct ChunkOf<block_format::kQ2_K> : ChunkCut<2, 0, 256, 16, 320, 0> {};
template <>
struct ChunkOf<block_format::kQ3_K> : ChunkCut<2, 1, 256, 16, 288, 4> {};
template <>
struct ChunkOf<block_format::kQ4_K> : ChunkCut<4, 0, 256, 8, 256, 0> {};
template <>
struct ChunkOf<block_format::kQ5_K> : ChunkCut<4, 1, 256, 8, 256, 0> {};
template <>
struct ChunkOf<block_format::kQ6_K> : ChunkCut<4, 2, 256, 16, 288, 32> {};
typedef ChunkOf<kFormat> Chunk;

constexpr index_t kPanels = (kColumns + 15) / 16;
constexpr index_t kChunks = (kLength + Chunk::kDepth - 1) / Chunk::kDepth;

AICF_DEVICE const char* ChunkAt(const void* packed, index_t panel, index_t chunk) {
  return static_cast<const char*>(packed) +
         (static_cast<i64>(panel) * kChunks + chunk) * Chunk::kBytes;
}

/// Index within a run of 32 elements of element e of the eight that belong to lane part t (a lane's
/// number modulo 4).
AICF_DEVICE constexpr int ElementOfLane(int t, int e) {
  return Chunk::kGroup == 16 ? e / 4 * 16 + t * 4 + e % 4 : t * 8 + e;
}

template <int N>
AICF_DEVICE void LoadWords(const char* from, u32 (&to)[N]) {
  constexpr int kPiece = N % 4 == 0 ? 4 : N;
#pragma unroll
  for (int i = 0; i < N; i += kPiece) {
    const Pack<u32, kPiece> pack = *reinterpret_cast<const Pack<u32, kPiece>*>(from + 4 * i);
#pragma unroll
    for (int j = 0; j < kPiece; ++j) to[i + j] = pack.v[j];
  }
}

/// A lane's words of a chunk's planes.
struct LaneCodes {
  u32 low[Chunk::kLowWords];
  u32 high[MaxOf(4, Chunk::kHighWords)];

  AICF_DEVICE LaneCodes(const char* chunk, int lane) {
#pragma unroll
    for (int v = 0; v < (Chunk::kLowWords + Chunk::kHighWords) / 4; ++v) {
      const Pack<u32, 4> pack = *reinterpret_cast<const Pack<u32, 4>*>(chunk + v * 512 + lane * 16);
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        if (v < Chunk::kLowWords / 4)
          low[v * 4 + j] = pack.v[j];
        else
          high[v * 4 + j - Chunk::kLowWords] = pack.v[j];
      }
    }
  }
};

/// By how many bits the words of a plane are stored rotated to the left. In a plane of 4 bits this
/// puts the first pair of each word where bf16 needs it, so that this pair takes no shift.
template <int kPlane>
AICF_DEVICE constexpr int Rotation() {
  return kPlane == 4 ? 7 - Chunk::kBits : 0;
}

/// Extracts kWidth bits of both elements of pair p from a plane of kPlane bits: those from bit
/// kFrom of a code on. Moves them to bit kTo of each half of the result, whose other bits are 0,
/// and combines the result with `bits` by exclusive or. REQUIRES that p is known at compile time.
template <int kPlane, int kFrom, int kWidth, int kTo>
AICF_DEVICE u32 PairBits(const u32* words, int p, u32 bits = 0) {
  constexpr int kPairs = 16 / kPlane;
  const int right = (p % kPairs * kPlane + kFrom + Rotation<kPlane>() - kTo) & 31;
  const u32 word = words[p / kPairs];
  const u32 moved = right == 0 ? word : word >> right | word << (32 - right);
  return MaskXor(moved, ((1u << kWidth) - 1) * 0x00010001u << kTo, bits);
}

AICF_DEVICE float LowHalf(u32 word) { return F16ToF32(static_cast<u16>(word)); }
AICF_DEVICE float HighHalf(u32 word) { return F16ToF32(static_cast<u16>(word >> 16)); }
AICF_DEVICE u32 SharedWord(const char* at) { return *reinterpret_cast<const u32*>(at); }
AICF_DEVICE float SharedHalf(const char* at) { return F16ToF32(*reinterpret_cast<const u16*>(at)); }

/// What a chunk says about the groups of one row. The scale of a group is Factor() * Scale(group),
/// where the group must be known at compile time. kFactored says that the factor may differ from 1.
/// Pair(scales, row, t, i) is the scale and the minimum of group t * kOwn + i of any row.
constexpr int kOwn = MaxOf(1, Chunk::kGroups / 4);

/// Converts an integer below 2^22 whose bits have been put into the mantissa of the float 2^23
/// (kTwo23), and subtracts `too_large`. MaskXor puts the bits there. If they begin at bit n, the
/// result is 2^n times as large.
constexpr u32 kTwo23 = 0x4b000000u;
AICF_DEVICE float FromTwo23(u32 bits, int too_large = 0) {
  return __uint_as_float(bits) - static_cast<float>((1 << 23) + too_large);
}

/// d of each block: Q4_0, Q5_0, Q8_0.
struct PlainScales {
  static constexpr bool kFactored = false;
  u32 words[MaxOf(1, Chunk::kGroups / 2)];

  AICF_DEVICE PlainScales(const char* scales, int row) {
    LoadWords(scales + row * Chunk::kGroups * 2, words);
  }
  AICF_DEVICE float Factor() const { return 1.0f; }
  AICF_DEVICE float Scale(int group) const {
    return group % 2 == 0 ? LowHalf(words[group / 2]) : HighHalf(words[group / 2]);
  }
  static AICF_DEVICE GroupScale Pair(const char* scales, int row, int t, int i) {
    return {SharedHalf(scales + (row * Chunk::kGroups + t * kOwn + i) * 2), 0.0f};
  }
};

/// d and m of each block: Q4_1, Q5_1.
struct PairScales {
  static constexpr bool kFactored = false;
  u32 words[MaxOf(1, Chunk::kGroups)];

  AICF_DEVICE PairScales(const char* scales, int row) {
    LoadWords(scales + row * Chunk::kGroups * 4, words);
  }
  AICF_DEVICE float Factor() const { return 1.0f; }
  AICF_DEVICE float Scale(int group) const { return LowHalf(words[group]); }
  static AICF_DEVICE GroupScale Pair(const char* scales, int row, int t, int i) {
    const u32 word = SharedWord(scales + (row * Chunk::kGroups + t * kOwn + i) * 4);
    return {LowHalf(word), -HighHalf(word)};
  }
};

/// d, dmin, and pairs of 6 bits: Q4_K, Q5_K. A field of 24 bits has the two scales and then the two
/// minimums of two groups.
struct SixBitScales {
  static constexpr bool kFactored = true;
  u32 words[4];

  AICF_DEVICE SixBitScales(const char* scales, int row) { LoadWords(scales + row * 16, words); }
  AICF_DEVICE float Factor() const { return LowHalf(words[0]); }
  AICF_DEVICE float Scale(int group) const {
    const int bit = group / 2 * 24 + group % 2 * 6, shift = bit % 32;
    u32 code = words[1 + bit / 32] >> shift;
    if (shift > 26) code |= words[2 + bit / 32] << (32 - shift);
    return FromTwo23(MaskXor(code, 63, kTwo23));
  }
  /// What Pair makes its two numbers of: d and dmin, and the bits of one scale and one minimum.
  struct Parts {
    float d, dmin;
    u32 scale, minimum;
  };
  static AICF_DEVICE Parts PartsOf(const char* scales, int row, int t, int i) {
    const char* own = scales + row * 16;
    const u32 both = SharedWord(own);
    const int word = 1 + 24 * t / 32;
    const u64 two = static_cast<u64>(SharedWord(own + 4 * MinOf(word + 1, 3))) << 32 |
                    SharedWord(own + 4 * word);
    const u32 field = static_cast<u32>(two >> (24 * t % 32)) >> (6 * i);
    return {LowHalf(both), HighHalf(both) * 0x1p-12f, MaskXor(field, 63, kTwo23),
            MaskXor(field, 63 << 12, kTwo23)};
  }
  static AICF_DEVICE GroupScale Pair(const char* scales, int row, int t, int i) {
    const Parts parts = PartsOf(scales, row, t, i);
    return {parts.d * FromTwo23(parts.scale), parts.dmin * FromTwo23(parts.minimum)};
  }
};

/// One byte for each of 16 groups. Q2_K: a scale and a minimum of 4 bits each; Q3_K: scales, stored
/// 32 too large; Q6_K: signed scales.
struct ByteScales {
  static constexpr bool kFactored = true;
  static constexpr bool kPairs = kFormat == block_format::kQ2_K;
  static constexpr bool kSigned = kFormat == block_format::kQ6_K;
  static constexpr u32 kMask = kPairs ? 15 : 255, kFlip = kSigned ? 128 : 0;
  u32 words[4];
  float d;

  AICF_DEVICE ByteScales(const char* scales, int row) {
    LoadWords(scales + row * 16, words);
    d = FactorOf(scales, row);
  }
  static AICF_DEVICE float FactorOf(const char* scales, int row) {
    return SharedHalf(scales + 256 + row * (kPairs ? 4 : 2));
  }
  static AICF_DEVICE float CodeOf(u32 byte) {
    return FromTwo23(MaskXor(byte, kMask, kTwo23 | kFlip), kPairs ? 0 : kSigned ? 128 : 32);
  }
  AICF_DEVICE float Factor() const { return d; }
  AICF_DEVICE float Scale(int group) const { return CodeOf(words[group / 4] >> (group % 4 * 8)); }
  static AICF_DEVICE GroupScale Pair(const char* scales, int row, int t, int i) {
    const u32 byte = SharedWord(scales + row * 16 + t * 4) >> (8 * i);
    const float scale = FactorOf(scales, row) * CodeOf(byte);
    if (!kPairs) return {scale, 0.0f};
    const float minimum = SharedHalf(scales + 258 + row * 4) * 0x1p-4f;
    return {scale, minimum * FromTwo23(MaskXor(byte, 15 << 4, kTwo23))};
  }
};

/// For formats whose elements have no scales.
struct NoScales {
  static constexpr bool kFactored = false;
  AICF_DEVICE NoScales(const char*, int) {}
  AICF_DEVICE float Factor() const { return 1.0f; }
  AICF_DEVICE float Scale(int) const { return 1.0f; }
  static AICF_DEVICE GroupScale Pair(const char*, int, int, int) { return {1.0f, 0.0f}; }
};

template <int kFormat>
struct ScalesOf {
  typedef NoScales T;
};
template <>
struct ScalesOf<block_format::kQ4_0> {
  typedef PlainScales T;
};
template <>
struct ScalesOf<block_format::kQ5_0> {
  typedef PlainScales T;
};
template <>
struct ScalesOf<block_format::kQ8_0> {
  typedef PlainScales T;
};
template <>
struct ScalesOf<block_format::kQ4_1> {
  typedef PairScales T;
};
template <>
struct ScalesOf<block_format::kQ5_1> {
  typedef PairScales T;
};
template <>
struct ScalesOf<block_format::kQ4_K> {
  typedef SixBitScales T;
};
template <>
struct ScalesOf<block_format::kQ5_K> {
  typedef SixBitScales T;
};
template <>
struct ScalesOf<block_format::kQ2_K> {
  typedef ByteScales T;
};
template <>
struct ScalesOf<block_format::kQ3_K> {
  typedef ByteScales T;
};
template <>
struct ScalesOf<block_format::kQ6_K> {
  typedef ByteScales T;
};
typedef ScalesOf<kFormat>::T Scales;

}  // namespace aicf
