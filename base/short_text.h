/// Copies and comparisons of short texts, for which calling memcpy or memcmp costs more than the
/// work itself. A text that is one to two blocks long is covered by its first and its last block,
/// which may overlap, so that two loads of fixed size suffice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace aicf {

namespace internal {

template <class Block>
void CopyEnds(char* to, const char* from, size_t bytes) {
  Block first, last;
  std::memcpy(&first, from, sizeof(Block));
  std::memcpy(&last, from + bytes - sizeof(Block), sizeof(Block));
  std::memcpy(to, &first, sizeof(Block));
  std::memcpy(to + bytes - sizeof(Block), &last, sizeof(Block));
}

template <class Block>
bool SameEnds(const char* a, const char* b, size_t bytes) {
  Block first[2], last[2];
  std::memcpy(&first[0], a, sizeof(Block));
  std::memcpy(&first[1], b, sizeof(Block));
  std::memcpy(&last[0], a + bytes - sizeof(Block), sizeof(Block));
  std::memcpy(&last[1], b + bytes - sizeof(Block), sizeof(Block));
  return first[0] == first[1] && last[0] == last[1];
}

}  // namespace internal

/// Like memcpy of the text's bytes.
inline void CopyText(char* to, std::string_view text) {
  const size_t bytes = text.size();
  if (bytes > 16) {
    std::memcpy(to, text.data(), bytes);
  } else if (bytes >= 8) {
    internal::CopyEnds<uint64_t>(to, text.data(), bytes);
  } else if (bytes >= 4) {
    internal::CopyEnds<uint32_t>(to, text.data(), bytes);
  } else if (bytes >= 2) {
    internal::CopyEnds<uint16_t>(to, text.data(), bytes);
  } else if (bytes == 1) {
    *to = text[0];
  }
}

/// Whether a == b. It is always inlined, so that where one text is a literal only the branch for
/// its length remains.
[[gnu::always_inline]] inline bool SameText(std::string_view a, std::string_view b) {
  const size_t bytes = a.size();
  if (bytes != b.size()) return false;
  if (bytes > 16) return std::memcmp(a.data(), b.data(), bytes) == 0;
  if (bytes >= 8) return internal::SameEnds<uint64_t>(a.data(), b.data(), bytes);
  if (bytes >= 4) return internal::SameEnds<uint32_t>(a.data(), b.data(), bytes);
  if (bytes >= 2) return internal::SameEnds<uint16_t>(a.data(), b.data(), bytes);
  return bytes == 0 || a[0] == b[0];
}

}  // namespace aicf
