#include "base/hash.h"

#include <bit>
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace aicf {
namespace {

// The eight hex digits of a word as eight characters, one per byte of the result, all computed at
// once. The digit of the word's highest four bits is in the lowest byte.
uint64_t EightDigits(uint32_t word) {
  uint64_t v = __builtin_bswap32(word);
  v = (v | v << 16) & 0x0000ffff0000ffff;
  v = (v | v << 8) & 0x00ff00ff00ff00ff;
  v = (v >> 4 & 0x000f000f000f000f) | (v & 0x000f000f000f000f) << 8;
  const uint64_t letters = (v + 0x0606060606060606) >> 4 & 0x0101010101010101;  // 1 from ten on
  return v + 0x3030303030303030 + letters * ('a' - '0' - 10);
}

}  // namespace

Hash128 HashBytes(std::span<const std::byte> bytes) {
  const XXH128_hash_t h = XXH3_128bits(bytes.data(), bytes.size());
  return {h.low64, h.high64};
}

Hash128 HashText(std::string_view text) { return HashBytes(std::as_bytes(std::span(text))); }

std::array<char, 32> HexDigits(const Hash128& hash) {
  static_assert(std::endian::native == std::endian::little);
  std::array<char, 32> out;
  const uint32_t words[] = {static_cast<uint32_t>(hash.high >> 32),
                            static_cast<uint32_t>(hash.high), static_cast<uint32_t>(hash.low >> 32),
                            static_cast<uint32_t>(hash.low)};
  for (size_t i = 0; i < 4; ++i) {
    const uint64_t digits = EightDigits(words[i]);
    std::memcpy(&out[8 * i], &digits, 8);
  }
  return out;
}

std::string ToHex(const Hash128& hash) {
  const std::array<char, 32> digits = HexDigits(hash);
  return {digits.begin(), digits.end()};
}

}  // namespace aicf
