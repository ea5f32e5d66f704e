/// Running text in a fixed number of columns.
#pragma once

#include <string>
#include <string_view>

namespace aicf::tools {

inline constexpr size_t kTextWidth = 100;

/// `first`, then `text` broken at blanks, every further line after `indent`. A word that is longer
/// than a line keeps its own. Ends with a newline; blanks at line ends are dropped.
std::string Wrap(std::string_view first, std::string_view indent, std::string_view text,
                 size_t width = kTextWidth);

}  // namespace aicf::tools
