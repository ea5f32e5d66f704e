// Blocks of 256 elements in groups of 16 or 32; groups have integer scales, multiplied by a float
// of the block. The order of bits is made for vectors of 32 bytes: byte i of a run of 32 has a
// field for element i of several groups that follow each other.
#include "base/block_decoders.h"

namespace aicf::blocks {
namespace {

constexpr int kElements = 256;

// Eight pairs of 6 bits, a scale and a minimum, in 12 bytes: the first four lie whole in bytes 0 to
// 3 and 4 to 7; the others have four bits in bytes 8 to 11 and their upper two above those of the
// first four.
struct ScaleAndMin {
  int scale, min;
};
ScaleAndMin UnpackPair(const uint8_t* p, int group) {
  if (group < 4) return {p[group] & 63, p[group + 4] & 63};
  return {(p[group + 4] & 15) | (p[group - 4] >> 6) << 4, (p[group + 4] >> 4) | (p[group] >> 6)
                                                                                    << 4};
}

// Sixteen scales of 6 bits, 32 too large, in 12 bytes: four bits each in bytes 0 to 7, the upper
// two in 8 to 11.
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

// Four bits of 32 bytes for every two groups.
int FourBits(const uint8_t* codes, int group, int i) {
  return (codes[group / 2 * 32 + i] >> (group % 2 * 4)) & 15;
}

}  // namespace

// 16 bytes of a scale and a minimum of 4 bits per 16 elements, 64 bytes of codes, scale, minimum.
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

// 32 bytes of third bits, 64 bytes of codes, 12 bytes of scales, scale. A third bit of 0
// subtracts 4.
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

// Scale, minimum, 12 bytes of pairs per 32 elements, 128 bytes of codes.
void Decode_kQ4_K(const uint8_t* block, float* out) {
  DecodeGroups(
      block, [&](int group, int i) { return FourBits(block + 16, group, i); }, out);
}

// As Q4_K, with 32 bytes of fifth bits before the codes: bit g of byte i belongs to element i of
// group g.
void Decode_kQ5_K(const uint8_t* block, float* out) {
  const uint8_t* high = block + 16;
  const auto code = [&](int group, int i) {
    return FourBits(block + 48, group, i) | ((high[i] >> group) & 1) << 4;
  };
  DecodeGroups(block, code, out);
}

// 128 bytes of low four bits, 64 bytes of high two, 16 signed scales per 16 elements, scale. 32 too
// large.
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
