#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace aicf {

Hash128 HashBytes(std::span<const std::byte> bytes) {
  const XXH128_hash_t h = XXH3_128bits(bytes.data(), bytes.size());
  return {h.low64, h.high64};
}

Hash128 HashText(std::string_view text) { return HashBytes(std::as_bytes(std::span(text))); }

std::string ToHex(const Hash128& hash) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out(32, '0');
  for (int i = 0; i < 16; ++i) {
    out[i] = kDigits[(hash.high >> (60 - 4 * i)) & 15];
    out[16 + i] = kDigits[(hash.low >> (60 - 4 * i)) & 15];
  }
  return out;
}

}  // namespace aicf
