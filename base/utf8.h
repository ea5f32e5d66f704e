/// Text that comes from a file: which bytes are accepted as a string.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace aicf {

/// Bytes of the well-formed UTF-8 sequence (shortest form, no surrogate) at the start of `text`; 0
/// when there is none. REQUIRES: text is not empty.
size_t Utf8Length(std::string_view text);

/// A text for a message: as it is up to `most` bytes, otherwise its start, cut between two
/// characters, and how many bytes it has. Names and arguments come from elsewhere and may have
/// megabytes.
std::string Abridge(std::string_view text, size_t most);

/// True when `text` is well-formed UTF-8 without a NUL.
bool IsCleanText(std::string_view text);

}  // namespace aicf
