#include "schema/byte_alphabet.h"

#include <array>
#include <cstdint>

#include "base/utf8.h"

namespace aicf::schema {
namespace {

// Visible characters of Latin-1 stand for themselves; the other bytes, in their order, for U+0100
// and on.
constexpr bool StandsForItself(uint32_t byte) {
  return (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
}

struct Alphabet {
  std::array<uint16_t, 256> character{};
  std::array<int16_t, 512> byte{};
};

constexpr Alphabet MakeAlphabet() {
  Alphabet alphabet;
  for (auto& byte : alphabet.byte) byte = -1;
  uint16_t next = 0x100;
  for (uint32_t byte = 0; byte < 256; ++byte) {
    const uint16_t c = StandsForItself(byte) ? static_cast<uint16_t>(byte) : next++;
    alphabet.character[byte] = c;
    alphabet.byte[c] = static_cast<int16_t>(byte);
  }
  return alphabet;
}

constexpr Alphabet kAlphabet = MakeAlphabet();

}  // namespace

std::optional<std::string> FromByteAlphabet(std::string_view spelled) {
  std::string bytes;
  while (!spelled.empty()) {
    const size_t length = Utf8Length(spelled);
    if (length != 1 && length != 2) return std::nullopt;
    uint32_t c = static_cast<uint8_t>(spelled[0]);
    if (length == 2) c = (c & 0x1f) << 6 | (static_cast<uint8_t>(spelled[1]) & 0x3f);
    if (c >= kAlphabet.byte.size() || kAlphabet.byte[c] < 0) return std::nullopt;
    bytes += static_cast<char>(kAlphabet.byte[c]);
    spelled.remove_prefix(length);
  }
  return bytes;
}

std::string ToByteAlphabet(std::string_view bytes) {
  std::string spelled;
  for (const char b : bytes) {
    const uint32_t c = kAlphabet.character[static_cast<uint8_t>(b)];
    if (c < 0x80) {
      spelled += static_cast<char>(c);
    } else {
      spelled += static_cast<char>(0xc0 | c >> 6);
      spelled += static_cast<char>(0x80 | (c & 0x3f));
    }
  }
  return spelled;
}

}  // namespace aicf::schema
