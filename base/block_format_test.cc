// Decoders against the formats' definition, bit by bit: each element's code is gathered from single
// bits of the block, with bit numbers computed from the layout.
#include "base/block_format.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <set>
#include <vector>

#include "base/float16.h"

namespace aicf {
namespace {

using Bytes = std::vector<uint8_t>;

// `count` bits from bit `first` of byte `byte`.
int Bits(const Bytes& b, int byte, int first, int count) {
  int value = 0;
  for (int i = 0; i < count; ++i) value += ((b[byte] >> (first + i)) % 2) << i;
  return value;
}
double HalfAt(const Bytes& b, int byte) {
  return F16ToF32(static_cast<uint16_t>(b[byte] + 256 * b[byte + 1]));
}
int Signed(uint8_t v) { return v < 128 ? v : v - 256; }

// The pair of 6-bit numbers of a group of Q4_K and Q5_K, from the 12 bytes at `at`.
std::pair<int, int> SixBits(const Bytes& b, int at, int group) {
  if (group < 4) return {Bits(b, at + group, 0, 6), Bits(b, at + 4 + group, 0, 6)};
  return {Bits(b, at + 4 + group, 0, 4) + 16 * Bits(b, at + group - 4, 6, 2),
          Bits(b, at + 4 + group, 4, 4) + 16 * Bits(b, at + group, 6, 2)};
}

double Small(const Bytes& b, int i, int scale_bytes, int high_bytes, int zero) {
  const int high_at = scale_bytes, codes = scale_bytes + high_bytes;
  int q = Bits(b, codes + i % 16, i < 16 ? 0 : 4, 4);
  if (high_bytes > 0) q += 16 * Bits(b, high_at + i / 8, i % 8, 1);
  const double offset = scale_bytes == 4 ? HalfAt(b, 2) : 0;
  return HalfAt(b, 0) * (q - zero) + offset;
}

double Q2K(const Bytes& b, int i) {
  const int q = Bits(b, 16 + 32 * (i / 128) + i % 32, 2 * (i / 32 % 4), 2);
  return HalfAt(b, 80) * Bits(b, i / 16, 0, 4) * q - HalfAt(b, 82) * Bits(b, i / 16, 4, 4);
}
double Q3K(const Bytes& b, int i) {
  const int q = Bits(b, 32 + 32 * (i / 128) + i % 32, 2 * (i / 32 % 4), 2) +
                4 * Bits(b, i % 32, i / 32, 1) - 4;
  const int group = i / 16;
  const int scale = Bits(b, 96 + group % 8, group < 8 ? 0 : 4, 4) +
                    16 * Bits(b, 104 + group % 4, 2 * (group / 4), 2) - 32;
  return HalfAt(b, 108) * scale * q;
}
double Q45K(const Bytes& b, int i, bool five) {
  const auto [scale, min] = SixBits(b, 4, i / 32);
  const int codes = five ? 48 : 16;
  int q = Bits(b, codes + 32 * (i / 64) + i % 32, i % 64 < 32 ? 0 : 4, 4);
  if (five) q += 16 * Bits(b, 16 + i % 32, i / 32, 1);
  return HalfAt(b, 0) * scale * q - HalfAt(b, 2) * min;
}
double Q6K(const Bytes& b, int i) {
  const int q = Bits(b, 64 * (i / 128) + i % 64, i % 128 < 64 ? 0 : 4, 4) +
                16 * Bits(b, 128 + 32 * (i / 128) + i % 32, 2 * (i / 32 % 4), 2) - 32;
  return HalfAt(b, 208) * Signed(b[192 + i / 16]) * q;
}

double Defined(BlockFormat format, const Bytes& b, int i) {
  switch (format) {
    case BlockFormat::kF32: {
      float v;
      std::memcpy(&v, b.data(), sizeof v);
      return v;
    }
    case BlockFormat::kF16:
      return HalfAt(b, 0);
    case BlockFormat::kBF16:
      return BF16ToF32(static_cast<uint16_t>(b[0] + 256 * b[1]));
    case BlockFormat::kQ4_0:
      return Small(b, i, 2, 0, 8);
    case BlockFormat::kQ4_1:
      return Small(b, i, 4, 0, 0);
    case BlockFormat::kQ5_0:
      return Small(b, i, 2, 4, 16);
    case BlockFormat::kQ5_1:
      return Small(b, i, 4, 4, 0);
    case BlockFormat::kQ8_0:
      return HalfAt(b, 0) * Signed(b[2 + i]);
    case BlockFormat::kQ2_K:
      return Q2K(b, i);
    case BlockFormat::kQ3_K:
      return Q3K(b, i);
    case BlockFormat::kQ4_K:
      return Q45K(b, i, false);
    case BlockFormat::kQ5_K:
      return Q45K(b, i, true);
    case BlockFormat::kQ6_K:
      return Q6K(b, i);
    case BlockFormat::kCount:
      break;
  }
  return NAN;
}

std::vector<float> Decode(BlockFormat format, const Bytes& bytes) {
  const BlockFormatInfo& info = InfoOf(format);
  std::vector<float> out(bytes.size() / info.bytes * info.elements);
  DecodeBlocks(format, std::as_bytes(std::span(bytes)), out);
  return out;
}

// Scales anywhere in a block are kept finite and of ordinary size.
Bytes RandomBlock(BlockFormat format, std::mt19937& rng) {
  Bytes block(InfoOf(format).bytes);
  for (uint8_t& byte : block) byte = static_cast<uint8_t>(rng());
  std::vector<int> halves;
  if (format == BlockFormat::kF32) return {0, 0, static_cast<uint8_t>(rng()), 0x3f};
  if (format == BlockFormat::kQ2_K)
    halves = {80, 82};
  else if (format == BlockFormat::kQ3_K)
    halves = {108};
  else if (format == BlockFormat::kQ6_K)
    halves = {208};
  else if (format == BlockFormat::kBF16)
    halves = {};
  else
    halves = {0};
  const bool two = format == BlockFormat::kQ4_1 || format == BlockFormat::kQ5_1 ||
                   format == BlockFormat::kQ4_K || format == BlockFormat::kQ5_K;
  if (two) halves.push_back(2);
  for (int at : halves)
    block[at + 1] = static_cast<uint8_t>((rng() & 0x83) | 0x28 | (rng() & 0x10));
  if (format == BlockFormat::kBF16) block[1] = 0x3f;
  return block;
}

TEST(BlockFormat, RandomBlocksHaveTheirDefinedValues) {
  std::mt19937 rng(9);
  for (int f = 0; f < kBlockFormatCount; ++f) {
    const auto format = static_cast<BlockFormat>(f);
    for (int round = 0; round < 200; ++round) {
      const Bytes block = RandomBlock(format, rng);
      const std::vector<float> out = Decode(format, block);
      ASSERT_EQ(out.size(), InfoOf(format).elements);
      for (int i = 0; i < static_cast<int>(out.size()); ++i) {
        const double expected = Defined(format, block, i);
        // Two products and a sum, each rounded; terms are at most 63 * 31 times the larger scale.
        double size = std::fabs(expected);
        if (InfoOf(format).elements > 1) size += 2000;
        ASSERT_NEAR(out[i], expected, size * 0x1p-23) << InfoOf(format).name << " " << i;
      }
    }
  }
}

TEST(BlockFormat, EveryBitOfABlockIsReadByTheFormat) {
  std::mt19937 rng(4);
  for (int f = 0; f < kBlockFormatCount; ++f) {
    const auto format = static_cast<BlockFormat>(f);
    // Over some blocks, since a scale of zero hides its codes.
    std::set<size_t> seen;
    for (int round = 0; round < 6; ++round) {
      const Bytes block = RandomBlock(format, rng);
      const std::vector<float> before = Decode(format, block);
      for (size_t bit = 0; bit < block.size() * 8; ++bit) {
        Bytes changed = block;
        changed[bit / 8] ^= static_cast<uint8_t>(1 << (bit % 8));
        const std::vector<float> after = Decode(format, changed);
        if (std::memcmp(before.data(), after.data(), before.size() * sizeof(float)) != 0)
          seen.insert(bit);
      }
    }
    EXPECT_EQ(seen.size(), InfoOf(format).bytes * 8u) << InfoOf(format).name;
  }
}

TEST(BlockFormat, BlocksFollowEachOther) {
  std::mt19937 rng(6);
  for (int f = 0; f < kBlockFormatCount; ++f) {
    const auto format = static_cast<BlockFormat>(f);
    const Bytes a = RandomBlock(format, rng), b = RandomBlock(format, rng);
    Bytes both = a;
    both.insert(both.end(), b.begin(), b.end());
    std::vector<float> expected = Decode(format, a), second = Decode(format, b);
    expected.insert(expected.end(), second.begin(), second.end());
    EXPECT_EQ(Decode(format, both), expected) << InfoOf(format).name;
  }
}

TEST(BlockFormat, KnownValues) {
  Bytes q4(18, 0x80);       // low nibbles 0, high nibbles 8
  q4[0] = 0, q4[1] = 0x40;  // scale 2
  const std::vector<float> values = Decode(BlockFormat::kQ4_0, q4);
  EXPECT_EQ(values[0], -16.0f);
  EXPECT_EQ(values[16], 0.0f);
}

TEST(BlockFormat, NumbersAndSizes) {
  EXPECT_EQ(BlockFormatOfGgml(12), BlockFormat::kQ4_K);
  EXPECT_EQ(BlockFormatOfGgml(30), BlockFormat::kBF16);
  EXPECT_EQ(BlockFormatOfGgml(9), std::nullopt);
  EXPECT_EQ(BlockBytes(BlockFormat::kQ4_0, 3, 64), 108u);
  EXPECT_EQ(BlockBytes(BlockFormat::kQ4_0, 3, 65), std::nullopt);
  EXPECT_EQ(BlockBytes(BlockFormat::kF32, uint64_t{1} << 62, 2), std::nullopt);
  EXPECT_EQ(BlockBytes(BlockFormat::kF32, uint64_t{1} << 63, 2), std::nullopt);
}

}  // namespace
}  // namespace aicf
