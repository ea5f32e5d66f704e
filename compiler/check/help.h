/// What helps against a gap, by the op and the words of the refusal.
#pragma once

#include <string_view>

namespace aicf {

/// `op`: with its domain in front; empty for inputs and outputs. Never empty.
std::string_view HelpAgainst(std::string_view op, std::string_view problem);

}  // namespace aicf
