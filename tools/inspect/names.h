/// Finding what a person means by a name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace aicf::tools {

/// Whether a name is a pattern (base/pattern.h).
bool IsGlob(std::string_view text);

/// The names most like `word`: those that hold it (whatever the case) first, then by edit distance;
/// at most `count`, none that has little in common.
std::vector<std::string> NearestNames(std::string_view word, const std::vector<std::string>& names,
                                      size_t count);

}  // namespace aicf::tools
