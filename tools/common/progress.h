/// One line of progress on a terminal; silence in a pipe.
#pragma once

#include <string_view>

namespace aicf::tools {

/// Replaces the line on stderr, at most ten times a second, once work has lasted half a second.
/// `total` 0: unknown.
void ShowProgress(std::string_view phase, int done, int total);
/// Removes the line, before other text is printed.
void ClearProgress();

}  // namespace aicf::tools
