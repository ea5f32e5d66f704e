/// Which inputs and outputs of streaming models belong together by their names, as exporters and
/// authors name them.
#pragma once

#include <optional>
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

/// What stands for the star of a pattern's side `form` in `name`; nothing where the name is not of
/// this form. A past and a present name belong together where both have the same text there.
std::optional<std::string_view> StarOf(std::string_view form, std::string_view name);

}  // namespace aicf
