/// Text that comes from a file: which bytes are accepted as a string.
#pragma once

#include <cstddef>
#include <string_view>

namespace aicf {

/// Bytes of the well-formed UTF-8 sequence (shortest form, no surrogate) at the start of `text`; 0 when
/// there is none. REQUIRES: text is not empty.
size_t Utf8Length(std::string_view text);

/// True when `text` is well-formed UTF-8 without a NUL.
bool IsCleanText(std::string_view text);

}  // namespace aicf
