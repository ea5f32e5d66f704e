/// Running text in a fixed number of columns.
#pragma once

#include <string>
#include <string_view>

namespace aicf::tools {

inline constexpr size_t kTextWidth = 100;

/// `first` followed by `text`, which is broken at blanks; every further line begins with `indent`.
/// A word that is longer than a line gets a line of its own. The result ends with a newline, and
/// blanks at the ends of lines are dropped.
std::string Wrap(std::string_view first, std::string_view indent, std::string_view text,
                 size_t width = kTextWidth);

}  // namespace aicf::tools
