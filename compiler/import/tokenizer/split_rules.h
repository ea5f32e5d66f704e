/// How byte-level tokenizers split text, for files that only name the rule.
#pragma once

#include <string_view>
#include <vector>

namespace aicf {

/// GPT-2's: words with the space before them, numbers, other signs, white space.
inline constexpr const char* kGpt2Words =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
/// BERT's: words, and every sign by itself; white space is in no piece.
inline constexpr const char* kBertWords = R"([\p{P}!-/:-@\[-`{-~]|[^\s\p{P}!-/:-@\[-`{-~]+)";

struct SplitRule {
  std::string_view name;
  bool nfc = false;            ///< text is brought to NFC first
  bool ignore_merges = false;  ///< a piece that is a token is that token
  bool add_bos = false;        ///< unless the file says otherwise
  std::vector<const char*> expressions;
};

/// The row of split_rules.def; null for another name.
const SplitRule* FindSplitRule(std::string_view name);

}  // namespace aicf
