/// Roles of the weights in Hugging Face's files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace aicf::language {

struct HfRole {
  std::string role;     ///< empty: not used
  bool turned = false;  ///< stored as [inputs, outputs]
  int64_t layer = 0;    ///< 0 where it is of no layer
};

/// `architecture`: a name of architectures.def. nullopt: no weight of such a model has that name.
std::optional<HfRole> RoleOfHfName(std::string_view architecture, std::string_view name);

}  // namespace aicf::language
