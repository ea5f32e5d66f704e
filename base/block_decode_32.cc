// Plain elements, and blocks of 32 elements with one scale.
#include "base/block_decoders.h"

namespace aicf::blocks {
namespace {

// The fifth bits of 32 elements are one little-endian word: bit i belongs to element i.
uint32_t Word(const uint8_t* p) {
  return p[0] | (uint32_t{p[1]} << 8) | (uint32_t{p[2]} << 16) | (uint32_t{p[3]} << 24);
}

// Byte i holds the code of element i in its low four bits and that of element i + 16 in its high
// four. Bit i of `high` is the fifth bit of element i's code.
template <class Value>
void DecodeNibbles(const uint8_t* codes, uint32_t high, float* out, Value value) {
  for (int i = 0; i < 16; ++i) {
    out[i] = value(static_cast<int>((codes[i] & 15) | ((high >> i) & 1) << 4));
    out[i + 16] = value(static_cast<int>((codes[i] >> 4) | ((high >> (i + 16)) & 1) << 4));
  }
}

}  // namespace

void Decode_kF32(const uint8_t* block, float* out) { std::memcpy(out, block, sizeof *out); }
void Decode_kF16(const uint8_t* block, float* out) { *out = F16ToF32(Half(block)); }
void Decode_kBF16(const uint8_t* block, float* out) { *out = BF16ToF32(Half(block)); }

void Decode_kQ4_0(const uint8_t* block, float* out) {
  const float d = Scale(block);
  DecodeNibbles(block + 2, 0, out, [d](int q) { return d * static_cast<float>(q - 8); });
}

void Decode_kQ4_1(const uint8_t* block, float* out) {
  const float d = Scale(block), m = Scale(block + 2);
  DecodeNibbles(block + 4, 0, out, [=](int q) { return d * static_cast<float>(q) + m; });
}

void Decode_kQ5_0(const uint8_t* block, float* out) {
  const float d = Scale(block);
  DecodeNibbles(block + 6, Word(block + 2), out,
                [d](int q) { return d * static_cast<float>(q - 16); });
}

void Decode_kQ5_1(const uint8_t* block, float* out) {
  const float d = Scale(block), m = Scale(block + 2);
  DecodeNibbles(block + 8, Word(block + 4), out,
                [=](int q) { return d * static_cast<float>(q) + m; });
}

void Decode_kQ8_0(const uint8_t* block, float* out) {
  const float d = Scale(block);
  for (int i = 0; i < 32; ++i) out[i] = d * static_cast<float>(static_cast<int8_t>(block[2 + i]));
}

}  // namespace aicf::blocks
