/// How alike two words are: for the name that somebody may have meant.
#pragma once

#include <cstddef>
#include <string_view>

namespace aicf {

/// Insertions, deletions and replacements of bytes that turn one into the other.
size_t EditDistance(std::string_view a, std::string_view b);

}  // namespace aicf
