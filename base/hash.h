/// 128-bit content hashes (XXH3). They detect corruption and name content; they are not signatures
/// and resist no adversary.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace aicf {

struct Hash128 {
  uint64_t low = 0;
  uint64_t high = 0;
  friend bool operator==(const Hash128&, const Hash128&) = default;
};

Hash128 HashBytes(std::span<const std::byte> bytes);
Hash128 HashText(std::string_view text);

/// 32 lower-case hex digits, high word first.
std::array<char, 32> HexDigits(const Hash128& hash);
std::string ToHex(const Hash128& hash);

}  // namespace aicf
