// Blocks of 256 elements in groups of 16 or 32. Each group has an integer scale, which is
// multiplied by a float of the block. The bits are ordered for vectors of 32 bytes: byte i of a run
// of 32 bytes holds one bit field for element i of each of several consecutive groups.
#include "base/block_decoders.h"

namespace aicf::blocks {
namespace {

constexpr int kElements = 256;

// Twelve bytes hold a scale and a minimum of 6 bits each for eight groups. Groups 0 to 3 have their
// scales in the lower 6 bits of bytes 0 to 3, and their minima in those of bytes 4 to 7. Groups 4
// to 7 have the lower four bits of scale and minimum in bytes 8 to 11, and the upper two in the top
// bits of bytes 0 to 3 (scales) and 4 to 7 (minima).
struct ScaleAndMin {
  int scale, min;
};
ScaleAndMin UnpackPair(const uint8_t* p, int group) {
  if (group < 4) return {p[group] & 63, p[group + 4] & 63};
  return {(p[group + 4] & 15) | (p[group - 4] >> 6) << 4, (p[group + 4] >> 4) | (p[group] >> 6)
                                                                                    << 4};
}

// Twelve bytes hold sixteen scales of 6 bits, stored with an offset of 32: the lower four bits of
// each in bytes 0 to 7, the upper two in bytes 8 to 11.
int UnpackScale(const uint8_t* p, int group) {
  const int low = (p[group % 8] >> (group / 8 * 4)) & 15;
  const int high = (p[8 + group % 4] >> (group / 4 * 2)) & 3;
  return (low | high << 4) - 32;
}

// Eight groups of 32 elements, each with a pair of scale and minimum; code(group, i) is the integer
// of a group's element i.
template <class F>
void DecodeGroups(const uint8_t* block, const F& code, float* out) {
  const float d = Scale(block), dmin = Scale(block + 2);
  for (int group = 0; group < 8; ++group) {
    const ScaleAndMin pair = UnpackPair(block + 4, group);
    const float scale = d * static_cast<float>(pair.scale);
    const float min = dmin * static_cast<float>(pair.min);
    for (int i = 0; i < 32; ++i) {
      out[group * 32 + i] = scale * static_cast<float>(code(group, i)) - min;
    }
  }
}

// The 4-bit code of a group's element i. Each run of 32 bytes holds the codes of two groups, one in
// its low and one in its high four bits.
int FourBits(const uint8_t* codes, int group, int i) {
  return (codes[group / 2 * 32 + i] >> (group % 2 * 4)) & 15;
}

}  // namespace

// Layout: 16 bytes, each with the scale and the minimum (4 bits each) of 16 elements; 64 bytes of
// 2-bit codes; the block's scale; the block's factor of the minima.
void Decode_kQ2_K(const uint8_t* block, float* out) {
  const uint8_t* codes = block + 16;
  const float d = Scale(block + 80), dmin = Scale(block + 82);
  for (int i = 0; i < kElements; ++i) {
    const uint8_t pair = block[i / 16];
    const int q = (codes[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2)) & 3;
    const float scale = d * static_cast<float>(pair & 15);
    const float min = dmin * static_cast<float>(pair >> 4);
    out[i] = scale * static_cast<float>(q) - min;
  }
}

// Layout: 32 bytes with the third bit of each code; 64 bytes with the lower two bits; 12 bytes of
// group scales; the block's scale. Where the third bit is 0, 4 is subtracted from the code.
void Decode_kQ3_K(const uint8_t* block, float* out) {
  const uint8_t* codes = block + 32;
  const float d = Scale(block + 108);
  for (int i = 0; i < kElements; ++i) {
    const int low = (codes[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2)) & 3;
    const int high = (block[i % 32] >> (i / 32)) & 1;
    const float scale = d * static_cast<float>(UnpackScale(block + 96, i / 16));
    out[i] = scale * static_cast<float>(low + high * 4 - 4);
  }
}

// Layout: the block's scale; the block's factor of the minima; 12 bytes with a scale and a minimum
// per 32 elements; 128 bytes of 4-bit codes.
void Decode_kQ4_K(const uint8_t* block, float* out) {
  DecodeGroups(
      block, [&](int group, int i) { return FourBits(block + 16, group, i); }, out);
}

// Like Q4_K, with 32 bytes of fifth bits before the 4-bit codes: bit g of byte i is the fifth bit
// of element i of group g.
void Decode_kQ5_K(const uint8_t* block, float* out) {
  const uint8_t* high = block + 16;
  const auto code = [&](int group, int i) {
    return FourBits(block + 48, group, i) | ((high[i] >> group) & 1) << 4;
  };
  DecodeGroups(block, code, out);
}

// Layout: 128 bytes with the low four bits of the codes; 64 bytes with the high two; 16 signed
// scales, one per 16 elements; the block's scale. Codes are stored with an offset of 32.
void Decode_kQ6_K(const uint8_t* block, float* out) {
  const uint8_t* high = block + 128;
  const float d = Scale(block + 208);
  for (int i = 0; i < kElements; ++i) {
    const int half = i / 128, in_half = i % 128;
    const int low = (block[half * 64 + in_half % 64] >> (in_half / 64 * 4)) & 15;
    const int top = (high[half * 32 + in_half % 32] >> (in_half / 32 * 2)) & 3;
    const auto scale = static_cast<float>(static_cast<int8_t>(block[192 + i / 16]));
    out[i] = d * scale * static_cast<float>((low | top << 4) - 32);
  }
}

}  // namespace aicf::blocks
