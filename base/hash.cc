#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace aicf {

Hash128 HashBytes(std::span<const std::byte> bytes) {
  const XXH128_hash_t h = XXH3_128bits(bytes.data(), bytes.size());
  return {h.low64, h.high64};
}

Hash128 HashText(std::string_view text) { return HashBytes(std::as_bytes(std::span(text))); }

std::array<char, 32> HexDigits(const Hash128& hash) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::array<char, 32> out;
  for (size_t word = 0; word < 2; ++word) {
    uint64_t rest = word == 0 ? hash.high : hash.low;
    for (size_t i = 16; i > 0; --i, rest >>= 4) out[16 * word + i - 1] = kDigits[rest & 15];
  }
  return out;
}

std::string ToHex(const Hash128& hash) {
  const std::array<char, 32> digits = HexDigits(hash);
  return {digits.begin(), digits.end()};
}

}  // namespace aicf
