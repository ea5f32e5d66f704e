/// GPT-2's alphabet: files of byte-level vocabularies spell each of the 256 bytes as one visible
/// character, so that a token is text whatever its bytes are.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace aicf::schema {

/// The bytes that `spelled` stands for; nothing where it has a character that is not of the
/// alphabet.
std::optional<std::string> FromByteAlphabet(std::string_view spelled);

/// The spelling of `bytes`, in UTF-8.
std::string ToByteAlphabet(std::string_view bytes);

}  // namespace aicf::schema
