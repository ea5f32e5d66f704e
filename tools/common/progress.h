/// One line of progress on stderr if that is a terminal; otherwise nothing is shown.
#pragma once

#include <string_view>

namespace aicf::tools {

/// Replaces the line on stderr, at most ten times a second, once the work has lasted half a second.
/// A `total` of 0 means that it is unknown.
void ShowProgress(std::string_view phase, int done, int total);
/// Removes the line, before other text is printed.
void ClearProgress();

}  // namespace aicf::tools
