/// Names by pattern, as people write them.
#pragma once

#include <string_view>

namespace aicf {

/// Whether a name matches a pattern in which * stands for any text and ? for one character.
/// Cost: at most the product of both lengths.
bool MatchesPattern(std::string_view pattern, std::string_view name);

}  // namespace aicf
