/// Bytes to valid UTF-8, at once or as they come.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace aicf::text {

/// Moves what is settled from the front of `bytes` to the end of `out`: whole characters as they
/// are, U+FFFD for the longest beginnings of characters that do not go on (the rule of the Unicode
/// standard, section 3.9). At most three bytes remain, the beginning of a character that may go on.
void TakeValidUtf8(std::string* bytes, std::string* out);

/// All of `bytes`, the unfinished rest as one U+FFFD.
std::string ToValidUtf8(std::string bytes);

}  // namespace aicf::text
