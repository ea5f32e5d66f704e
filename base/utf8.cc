#include "base/utf8.h"

#include <cstdint>
#include <cstring>

namespace aicf {

size_t Utf8Length(std::string_view s) {
  const auto at = [&](size_t i) { return static_cast<uint8_t>(s[i]); };
  const uint8_t lead = at(0);
  if (lead < 0x80) return 1;
  const size_t length = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (length == 0 || length > s.size()) return 0;
  // The second byte's range excludes overlong forms, surrogates and code points above U+10FFFF.
  const uint8_t low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const uint8_t high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  if (at(1) < low || at(1) > high) return 0;
  for (size_t i = 2; i < length; ++i) {
    if (at(i) < 0x80 || at(i) > 0xbf) return 0;
  }
  return length;
}

std::string Abridge(std::string_view text, size_t most) {
  if (text.size() <= most) return std::string(text);
  const auto inside = [&](size_t i) { return (static_cast<uint8_t>(text[i]) & 0xc0) == 0x80; };
  size_t end = most;
  // At most three continuation bytes follow the first byte of a UTF-8 sequence. Where there are
  // more, the bytes are no UTF-8 anyway.
  for (int back = 0; back < 3 && end > 0 && inside(end); ++back) --end;
  return std::string(text.substr(0, end)) + "... (" + std::to_string(text.size()) + " bytes)";
}

namespace {

// The number of ASCII bytes (below 0x80) at the start of `text`, rounded down to a multiple of
// eight so that whole words can be tested. Names and programs consist almost entirely of such
// bytes.
size_t AsciiPrefix(std::string_view text) {
  size_t at = 0;
  for (uint64_t word = 0; text.size() - at >= sizeof word; at += sizeof word) {
    std::memcpy(&word, text.data() + at, sizeof word);
    if ((word & 0x8080808080808080u) != 0) break;
  }
  return at;
}

}  // namespace

bool IsCleanText(std::string_view text) {
  if (!text.empty() && std::memchr(text.data(), 0, text.size()) != nullptr) return false;
  while (!text.empty()) {
    text.remove_prefix(AsciiPrefix(text));
    if (text.empty()) return true;
    const size_t length = Utf8Length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace aicf
