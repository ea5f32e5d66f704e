// Decodes blocks of the formats of base/block_format.def on a device. The elements of a block have
// the values that base/block_decode_32.cc and block_decode_k.cc define, with each operation rounded
// to f32. Blocks are read byte by byte, so they may lie anywhere.
#pragma once

#include "common/enums.cuh"

namespace aicf {

AICF_DEVICE u32 HalfBits(const u8* p) { return p[0] | static_cast<u32>(p[1]) << 8; }
AICF_DEVICE float HalfAt(const u8* p) { return F16ToF32(static_cast<u16>(HalfBits(p))); }
AICF_DEVICE u32 WordAt(const u8* p) { return HalfBits(p) | HalfBits(p + 2) << 16; }

/// The pair that a group of elements shares: an element is scale * code - minimum.
struct GroupScale {
  float scale, minimum;
};

/// How a format stores its blocks. kElements and kBytes are the size of a block; kGroup elements
/// share a pair. kHasMinimum says whether a pair has a minimum; without it nothing is subtracted.
/// Pair(block, group) is the pair of a group, Code(block, i) the integer of element i. Formats of
/// plain elements have Value(block), their only element, instead of these two.
template <int kFormat>
struct BlockOf;

// ---- Blocks of 32 elements with one pair.

/// Byte i has element i in its low and element i + 16 in its high four bits.
AICF_DEVICE int NibbleOf32(const u8* codes, int i) { return (codes[i % 16] >> (i / 16 * 4)) & 15; }
/// The fifth bit of element i.
AICF_DEVICE int FifthBit(const u8* bits, int i) { return ((bits[i / 8] >> (i % 8)) & 1) << 4; }

template <int kSize, bool kMinimum>
struct BlockOf32 {
  static constexpr int kElements = 32, kBytes = kSize, kGroup = 32;
  static constexpr bool kHasMinimum = kMinimum;
  static AICF_DEVICE GroupScale Pair(const u8* block, int) {
    return {HalfAt(block), kMinimum ? -HalfAt(block + 2) : 0.0f};
  }
};

template <>
struct BlockOf<block_format::kQ4_0> : BlockOf32<18, false> {
  static AICF_DEVICE int Code(const u8* block, int i) { return NibbleOf32(block + 2, i) - 8; }
};
template <>
struct BlockOf<block_format::kQ4_1> : BlockOf32<20, true> {
  static AICF_DEVICE int Code(const u8* block, int i) { return NibbleOf32(block + 4, i); }
};
template <>
struct BlockOf<block_format::kQ5_0> : BlockOf32<22, false> {
  static AICF_DEVICE int Code(const u8* block, int i) {
    return (NibbleOf32(block + 6, i) | FifthBit(block + 2, i)) - 16;
  }
};
template <>
struct BlockOf<block_format::kQ5_1> : BlockOf32<24, true> {
  static AICF_DEVICE int Code(const u8* block, int i) {
    return NibbleOf32(block + 8, i) | FifthBit(block + 4, i);
  }
};
template <>
struct BlockOf<block_format::kQ8_0> : BlockOf32<34, false> {
  static AICF_DEVICE int Code(const u8* block, int i) { return static_cast<i8>(block[2 + i]); }
};

// ---- Blocks of 256 elements in groups.

template <int kSize, int kGroupSize, bool kMinimum>
struct BlockOf256 {
  static constexpr int kElements = 256, kBytes = kSize, kGroup = kGroupSize;
  static constexpr bool kHasMinimum = kMinimum;
};

/// Eight pairs of a scale and a minimum, of 6 bits each, in the 12 bytes from `p` on. Groups 0 to 3
/// have their scales in the lower six bits of bytes 0 to 3, their minima in those of bytes 4 to 7.
/// Groups 4 to 7 have the lower four bits of both in bytes 8 to 11, the scale's below the
/// minimum's, and the upper two in the two bits that are left in bytes 0 to 3 (scales) and 4 to 7
/// (minima).
AICF_DEVICE int ScaleOf6(const u8* p, int group) {
  return group < 4 ? p[group] & 63 : (p[group + 4] & 15) | (p[group - 4] >> 6) << 4;
}
AICF_DEVICE int MinimumOf6(const u8* p, int group) {
  return group < 4 ? p[group + 4] & 63 : (p[group + 4] >> 4) | (p[group] >> 6) << 4;
}
AICF_DEVICE GroupScale PairOf6(const u8* block, int group) {
  return {HalfAt(block) * static_cast<float>(ScaleOf6(block + 4, group)),
          HalfAt(block + 2) * static_cast<float>(MinimumOf6(block + 4, group))};
}
/// Codes of 4 bits. Every 32 bytes hold two groups of 32 elements, the first of them in the low
/// four bits of the bytes, the second in the high four bits.
AICF_DEVICE int NibbleOf256(const u8* codes, int i) {
  return (codes[i / 64 * 32 + i % 32] >> (i / 32 % 2 * 4)) & 15;
}
/// Codes of 2 bits, or the lower 2 bits of codes. Every 32 bytes hold four times 32 elements, the
/// first 32 of them in the lowest two bits of the bytes.
AICF_DEVICE int TwoBitsOf256(const u8* codes, int i) {
  return (codes[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2)) & 3;
}

template <>
struct BlockOf<block_format::kQ2_K> : BlockOf256<84, 16, true> {
  static AICF_DEVICE GroupScale Pair(const u8* block, int group) {
    return {HalfAt(block + 80) * static_cast<float>(block[group] & 15),
            HalfAt(block + 82) * static_cast<float>(block[group] >> 4)};
  }
  static AICF_DEVICE int Code(const u8* block, int i) { return TwoBitsOf256(block + 16, i); }
};
template <>
struct BlockOf<block_format::kQ3_K> : BlockOf256<110, 16, false> {
  static AICF_DEVICE GroupScale Pair(const u8* block, int group) {
    const u8* p = block + 96;
    const int low = (p[group % 8] >> (group / 8 * 4)) & 15;
    const int high = (p[8 + group % 4] >> (group / 4 * 2)) & 3;
    return {HalfAt(block + 108) * static_cast<float>((low | high << 4) - 32), 0.0f};
  }
  static AICF_DEVICE int Code(const u8* block, int i) {
    return TwoBitsOf256(block + 32, i) + ((block[i % 32] >> (i / 32)) & 1) * 4 - 4;
  }
};
template <>
struct BlockOf<block_format::kQ4_K> : BlockOf256<144, 32, true> {
  static AICF_DEVICE GroupScale Pair(const u8* block, int group) { return PairOf6(block, group); }
  static AICF_DEVICE int Code(const u8* block, int i) { return NibbleOf256(block + 16, i); }
};
template <>
struct BlockOf<block_format::kQ5_K> : BlockOf256<176, 32, true> {
  static AICF_DEVICE GroupScale Pair(const u8* block, int group) { return PairOf6(block, group); }
  static AICF_DEVICE int Code(const u8* block, int i) {
    return NibbleOf256(block + 48, i) | ((block[16 + i % 32] >> (i / 32)) & 1) << 4;
  }
};
template <>
struct BlockOf<block_format::kQ6_K> : BlockOf256<210, 16, false> {
  static AICF_DEVICE GroupScale Pair(const u8* block, int group) {
    return {HalfAt(block + 208) * static_cast<float>(static_cast<i8>(block[192 + group])), 0.0f};
  }
  static AICF_DEVICE int Code(const u8* block, int i) {
    const int half = i / 128, in_half = i % 128;
    const int low = (block[half * 64 + in_half % 64] >> (in_half / 64 * 4)) & 15;
    const int high = (block[128 + half * 32 + in_half % 32] >> (in_half / 32 * 2)) & 3;
    return (low | high << 4) - 32;
  }
};

// ---- Plain elements: a block is one element.

template <int kSize>
struct BlockOfOne {
  static constexpr int kElements = 1, kBytes = kSize, kGroup = 1;
  static constexpr bool kHasMinimum = false;
};
template <>
struct BlockOf<block_format::kF32> : BlockOfOne<4> {
  static AICF_DEVICE float Value(const u8* block) { return __uint_as_float(WordAt(block)); }
};
template <>
struct BlockOf<block_format::kF16> : BlockOfOne<2> {
  static AICF_DEVICE float Value(const u8* block) { return HalfAt(block); }
};
template <>
struct BlockOf<block_format::kBF16> : BlockOfOne<2> {
  static AICF_DEVICE float Value(const u8* block) { return __uint_as_float(HalfBits(block) << 16); }
};

/// Decodes the N elements of a row of blocks that begin at element k. REQUIRES: N is a power of two
/// up to 16 and k a multiple of N, so that all N elements share a pair.
template <int kFormat, int N>
AICF_DEVICE void DecodeRun(const u8* row, index_t k, float (&out)[N]) {
  typedef BlockOf<kFormat> Block;
  if constexpr (Block::kElements == 1) {
#pragma unroll
    for (int j = 0; j < N; ++j) out[j] = Block::Value(row + (k + j) * Block::kBytes);
  } else {
    static_assert(N <= Block::kGroup && Block::kGroup % N == 0, "a run shares a pair");
    const u8* block = row + k / Block::kElements * Block::kBytes;
    const int first = static_cast<int>(k % Block::kElements);
    const GroupScale pair = Block::Pair(block, first / Block::kGroup);
#pragma unroll
    for (int j = 0; j < N; ++j) {
      out[j] = pair.scale * static_cast<float>(Block::Code(block, first + j));
      if constexpr (Block::kHasMinimum) out[j] = out[j] - pair.minimum;
    }
  }
}

}  // namespace aicf
