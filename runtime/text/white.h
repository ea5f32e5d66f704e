/// White space at the ends of a text, as Unicode has it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace aicf::text {

/// The character at the start of `text`, -1 where there is none.
int32_t PointAt(std::string_view text);
/// The last character of `text`, empty where it ends in no character.
std::string_view LastCharacter(std::string_view text);

/// Bytes of white space (White_Space) at the start and at the end.
size_t WhiteAtStart(std::string_view text);
size_t WhiteAtEnd(std::string_view text);

}  // namespace aicf::text
