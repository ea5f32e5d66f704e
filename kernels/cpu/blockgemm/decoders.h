/// The block formats in the packed layout (kernels/cpu/blockgemm/layout.h): sixteen columns at a
/// time, a group of 32 elements along k at a time. For *.isa.cc files only.
///
/// Decoder<format> says how a value follows from its code:
///   value = scale * (code - kOffset)       codes have no sign (layout.h gives kOffset)
///   value = scale * code + minimum         where kMinimum
/// with one scale (and minimum) per kRun elements. A value is formed by one multiplication and
/// addition that round once. It equals that of base/block_format.h bit by bit, since a scale times
/// a code is exact in f32.
///   Codes(block, g, codes)   group g of a block: codes[i] has elements 4 * i to 4 * i + 3 of each
///                            column in the bytes of its word
///   Scales(block, g, scales) the scale (and minimum) of each run of the group
/// The formats f16 and bf16, whose elements share no scales, are kPlain: Value(block, i) is element
/// i of each column. DecodedGroup<Decoder> gives the values of either kind.
#pragma once

#include "base/block_format.h"
#include "kernels/cpu/blockgemm/layout.h"
#include "kernels/cpu/blockgemm/wide.h"

AICF_ISA_BEGIN

inline constexpr int kColumns = 16;
inline constexpr int kGroup = 32;      ///< elements along k
inline constexpr int kGroupWords = 8;  ///< words of codes of a group

struct BlockScales {
  Floats scale;
  Floats minimum;  ///< only where kMinimum
};

/// The places of a packed block's parts.
struct PackedBlock {
  const uint16_t* halves;
  const uint8_t* words;

  AICF_INLINE Floats Half(int i) const { return LoadHalves(halves + kColumns * i); }
  AICF_INLINE Words Word(int i) const { return LoadWords(words + 4 * kColumns * i); }
};

/// For each byte of each word, the field of `bits` bits that begins at bit `at` of that byte.
AICF_INLINE Words Fields(Words word, int at, int bits) {
  return ShiftRight(word, at) & RepeatWord(((1 << bits) - 1) * 0x01010101);
}
/// For each word, the field of `bits` bits that begins at bit `at`, as an unsigned number.
AICF_INLINE Words Part(Words word, int at, int bits) {
  return ShiftRight(word, at) & RepeatWord((1 << bits) - 1);
}

/// Properties of a format's codes. They are taken from the host code's BlockRoundingOf, by which A
/// is rounded, so that both agree.
template <BlockFormat kFormat>
struct CodesOf {
  static constexpr int kRun = BlockRoundingOf(kFormat).run;
  static constexpr int kOffset = BlockRoundingOf(kFormat).offset;
  static constexpr bool kMinimum = BlockRoundingOf(kFormat).minimum;
  static constexpr bool kEightBits = kFormat == BlockFormat::kQ8_0, kPlain = false;
};

/// What the formats of one group per block have in common.
template <BlockFormat kFormat, int kHalfCount, int kWordCount>
struct SimpleBlock : CodesOf<kFormat> {
  static constexpr int kHalves = kHalfCount, kWords = kWordCount, kGroups = 1;
  using CodesOf<kFormat>::kMinimum;

  AICF_INLINE static void Scales(const PackedBlock& b, int, BlockScales (&s)[1]) {
    s[0].scale = b.Half(0);
    if constexpr (kMinimum) s[0].minimum = b.Half(1);
  }
  /// Codes of four bits. Byte i of the 16 bytes from word `first` on holds element i in its low
  /// half and element 16 + i in its high half.
  AICF_INLINE static void Nibbles(const PackedBlock& b, int first, Words (&codes)[kGroupWords]) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const Words word = b.Word(first + i);
      codes[i] = Fields(word, 0, 4);
      codes[i + 4] = Fields(word, 4, 4);
    }
  }
  /// Codes of five bits: the low four as in Nibbles from word 1 on, the fifth bit of element i in
  /// bit i of word 0.
  AICF_INLINE static void FiveBits(const PackedBlock& b, Words (&codes)[kGroupWords]) {
    Nibbles(b, 1, codes);
    const Words high = b.Word(0);
#pragma GCC unroll 8
    for (int i = 0; i < kGroupWords; ++i) codes[i] = codes[i] | SpreadBits(high, i);
  }
};

template <BlockFormat kFormat>
struct Decoder;

template <>
struct Decoder<BlockFormat::kQ4_0> : SimpleBlock<BlockFormat::kQ4_0, 1, 4> {
  AICF_INLINE static void Codes(const PackedBlock& b, int, Words (&codes)[kGroupWords]) {
    Nibbles(b, 0, codes);
  }
};

template <>
struct Decoder<BlockFormat::kQ4_1> : SimpleBlock<BlockFormat::kQ4_1, 2, 4> {
  AICF_INLINE static void Codes(const PackedBlock& b, int, Words (&codes)[kGroupWords]) {
    Nibbles(b, 0, codes);
  }
};

template <>
struct Decoder<BlockFormat::kQ5_0> : SimpleBlock<BlockFormat::kQ5_0, 1, 5> {
  AICF_INLINE static void Codes(const PackedBlock& b, int, Words (&codes)[kGroupWords]) {
    FiveBits(b, codes);
  }
};

template <>
struct Decoder<BlockFormat::kQ5_1> : SimpleBlock<BlockFormat::kQ5_1, 2, 5> {
  AICF_INLINE static void Codes(const PackedBlock& b, int, Words (&codes)[kGroupWords]) {
    FiveBits(b, codes);
  }
};

template <>
struct Decoder<BlockFormat::kQ8_0> : SimpleBlock<BlockFormat::kQ8_0, 1, 8> {
  AICF_INLINE static void Codes(const PackedBlock& b, int, Words (&codes)[kGroupWords]) {
    const Words sign = RepeatWord(static_cast<int>(0x80808080));
#pragma GCC unroll 8
    for (int i = 0; i < kGroupWords; ++i) codes[i] = b.Word(i) ^ sign;
  }
};

/// What the formats of eight groups per block have in common.
template <BlockFormat kFormat, int kHalfCount, int kWordCount>
struct SuperBlock : CodesOf<kFormat> {
  static constexpr int kHalves = kHalfCount, kWords = kWordCount, kGroups = 8;

  /// The scale and minimum of group g, six bits each, from words 0 to 2. For groups 0 to 3 they are
  /// the low six bits of byte g of word 0 (scale) and word 1 (minimum). For groups 4 to 7 their low
  /// four bits share byte g - 4 of word 2 (the scale in its low half), and their high two bits are
  /// the top two bits of byte g - 4 of word 0 and word 1.
  AICF_INLINE static void PairOfSix(const PackedBlock& b, int g, BlockScales& s) {
    Words scale, minimum;
    if (g < 4) {
      scale = Part(b.Word(0), 8 * g, 6);
      minimum = Part(b.Word(1), 8 * g, 6);
    } else {
      const int at = 8 * (g - 4);
      const Words low = b.Word(2);
      scale = Part(low, at, 4) | ShiftLeft(Part(b.Word(0), at + 6, 2), 4);
      minimum = Part(low, at + 4, 4) | ShiftLeft(Part(b.Word(1), at + 6, 2), 4);
    }
    s.scale = b.Half(0) * ToFloats(scale);
    s.minimum = (RepeatFloat(-1.0f) * b.Half(1)) * ToFloats(minimum);
  }
  /// Codes of four bits. From word `first` on, 32 bytes at a time hold two groups: the first one in
  /// the low halves of the bytes, the second one in the high halves.
  AICF_INLINE static void Nibbles(const PackedBlock& b, int first, int g,
                                  Words (&codes)[kGroupWords]) {
#pragma GCC unroll 8
    for (int i = 0; i < kGroupWords; ++i) {
      codes[i] = Fields(b.Word(first + g / 2 * 8 + i), g % 2 * 4, 4);
    }
  }
  /// Fields of two bits. From word `first` on, 32 bytes at a time hold four groups, the first one
  /// in the lowest two bits of each byte. Gives word i of group g.
  AICF_INLINE static Words TwoBits(const PackedBlock& b, int first, int g, int i) {
    return Fields(b.Word(first + g / 4 * 8 + i), g % 4 * 2, 2);
  }
};

template <>
struct Decoder<BlockFormat::kQ2_K> : SuperBlock<BlockFormat::kQ2_K, 2, 20> {
  AICF_INLINE static void Codes(const PackedBlock& b, int g, Words (&codes)[kGroupWords]) {
#pragma GCC unroll 8
    for (int i = 0; i < kGroupWords; ++i) codes[i] = TwoBits(b, 4, g, i);
  }
  AICF_INLINE static void Scales(const PackedBlock& b, int g, BlockScales (&s)[2]) {
    const Floats d = b.Half(0), minimum = RepeatFloat(-1.0f) * b.Half(1);
    const Words pairs = b.Word(g / 2);
#pragma GCC unroll 2
    for (int i = 0; i < 2; ++i) {
      const int at = g % 2 * 16 + i * 8;
      s[i].scale = d * ToFloats(Part(pairs, at, 4));
      s[i].minimum = minimum * ToFloats(Part(pairs, at + 4, 4));
    }
  }
};

template <>
struct Decoder<BlockFormat::kQ3_K> : SuperBlock<BlockFormat::kQ3_K, 1, 27> {
  AICF_INLINE static void Codes(const PackedBlock& b, int g, Words (&codes)[kGroupWords]) {
#pragma GCC unroll 8
    for (int i = 0; i < kGroupWords; ++i) {
      codes[i] = TwoBits(b, 8, g, i) | ShiftLeft(Fields(b.Word(i), g, 1), 2);
    }
  }
  AICF_INLINE static void Scales(const PackedBlock& b, int g, BlockScales (&s)[2]) {
#pragma GCC unroll 2
    for (int i = 0; i < 2; ++i) {
      const int run = 2 * g + i;
      const Words low = Part(b.Word(24 + run % 8 / 4), run % 4 * 8 + run / 8 * 4, 4);
      const Words high = Part(b.Word(26), run % 4 * 8 + run / 4 * 2, 2);
      s[i].scale = b.Half(0) * ToFloats((low | ShiftLeft(high, 4)) - RepeatWord(32));
    }
  }
};

template <>
struct Decoder<BlockFormat::kQ4_K> : SuperBlock<BlockFormat::kQ4_K, 2, 35> {
  AICF_INLINE static void Codes(const PackedBlock& b, int g, Words (&codes)[kGroupWords]) {
    Nibbles(b, 3, g, codes);
  }
  AICF_INLINE static void Scales(const PackedBlock& b, int g, BlockScales (&s)[1]) {
    PairOfSix(b, g, s[0]);
  }
};

template <>
struct Decoder<BlockFormat::kQ5_K> : SuperBlock<BlockFormat::kQ5_K, 2, 43> {
  AICF_INLINE static void Codes(const PackedBlock& b, int g, Words (&codes)[kGroupWords]) {
    Nibbles(b, 11, g, codes);
#pragma GCC unroll 8
    for (int i = 0; i < kGroupWords; ++i) {
      codes[i] = codes[i] | ShiftLeft(Fields(b.Word(3 + i), g, 1), 4);
    }
  }
  AICF_INLINE static void Scales(const PackedBlock& b, int g, BlockScales (&s)[1]) {
    PairOfSix(b, g, s[0]);
  }
};

template <>
struct Decoder<BlockFormat::kQ6_K> : SuperBlock<BlockFormat::kQ6_K, 1, 52> {
  AICF_INLINE static void Codes(const PackedBlock& b, int g, Words (&codes)[kGroupWords]) {
#pragma GCC unroll 8
    for (int i = 0; i < kGroupWords; ++i) {
      const Words low = Fields(b.Word(g / 4 * 16 + g % 2 * 8 + i), g % 4 / 2 * 4, 4);
      codes[i] = low | ShiftLeft(TwoBits(b, 32, g, i), 4);
    }
  }
  AICF_INLINE static void Scales(const PackedBlock& b, int g, BlockScales (&s)[2]) {
    const Words four = b.Word(48 + g / 2);
#pragma GCC unroll 2
    for (int i = 0; i < 2; ++i) {
      s[i].scale = b.Half(0) * ToFloats(SignedByte(four, g % 2 * 2 + i));
    }
  }
};

/// Groups of 32 elements of 16 bits.
struct PlainBlock {
  static constexpr int kHalves = kGroup, kWords = 0, kGroups = 1, kRun = kGroup;
  static constexpr bool kPlain = true;
};

template <>
struct Decoder<BlockFormat::kF16> : PlainBlock {
  AICF_INLINE static Floats Value(const PackedBlock& b, int i) { return b.Half(i); }
};

template <>
struct Decoder<BlockFormat::kBF16> : PlainBlock {
  AICF_INLINE static Floats Value(const PackedBlock& b, int i) {
    return LoadBrains(b.halves + kColumns * i);
  }
};

/// Group g of a block in registers.
template <class D>
struct DecodedGroup {
  Words codes[kGroupWords];
  BlockScales scales[kGroup / D::kRun];

  AICF_INLINE DecodedGroup(const PackedBlock& b, int g) {
    D::Codes(b, g, codes);
    D::Scales(b, g, scales);
  }
  /// Element i of each column: the value of base/block_format.h bit by bit.
  AICF_INLINE Floats Value(int i) const {
    const Floats code = ToFloats(Part(codes[i / 4], i % 4 * 8, 8));
    const BlockScales& s = scales[i / D::kRun];
    if constexpr (D::kMinimum) return MulAdd(code, s.scale, s.minimum);
    return MulAdd(code, s.scale, RepeatFloat(-D::kOffset) * s.scale);
  }
};

template <class D>
requires D::kPlain struct DecodedGroup<D> {
  PackedBlock block;

  AICF_INLINE DecodedGroup(const PackedBlock& b, int) : block(b) {}
  AICF_INLINE Floats Value(int i) const { return D::Value(block, i); }
};

AICF_ISA_END
