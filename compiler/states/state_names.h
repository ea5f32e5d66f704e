/// Which inputs and outputs of streaming models belong together by their names, as exporters and
/// authors name them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace aicf {

/// A way of naming a state's two ends.
struct NamePattern {
  std::string_view past;     ///< "past_*": the star stands for what both names share
  std::string_view present;  ///< "present_*"
};

/// All patterns, the more telling ones first.
const std::vector<NamePattern>& NamePatterns();

/// Whether `past` and `present` are names of this pattern with the same text for the star.
bool Matches(const NamePattern& pattern, std::string_view past, std::string_view present);

/// The first pattern that the names match; nullptr for none.
const NamePattern* FindPattern(std::string_view past, std::string_view present);

}  // namespace aicf
