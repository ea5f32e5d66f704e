/// Text that comes from a file: which bytes are accepted as a string.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace aicf {

/// Bytes of the well-formed UTF-8 sequence (shortest form, no surrogate) at the start of `text`; 0
/// when there is none. REQUIRES: text is not empty.
size_t Utf8Length(std::string_view text);

/// Shortens a text for a message, because names and arguments come from outside and may have
/// megabytes. Up to `most` bytes are returned unchanged; of a longer text only its start, cut
/// between two characters, followed by its size in bytes.
std::string Abridge(std::string_view text, size_t most);

/// True when `text` is well-formed UTF-8 without a NUL.
bool IsCleanText(std::string_view text);

}  // namespace aicf
