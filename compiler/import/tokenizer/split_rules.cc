#include "compiler/import/tokenizer/split_rules.h"

#include <algorithm>

namespace aicf {
namespace {

constexpr const char* kPunctuationRuns = R"([\p{P}$+<=>^~|]+)";
constexpr const char* kPunctuationAndTicks = R"([\p{P}$+<=>^~|`]+)";
// Any one sign may begin a word, and signs in front of a line feed take it along; numbers are split
// into groups of up to three digits.
constexpr const char* kTriples =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
// Like kTriples, but numbers are split into single digits.
constexpr const char* kSingleDigits =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
// Like kSingleDigits, but marks are parts of words.
constexpr const char* kMarkedWords =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
// A capital letter behind a small one begins a new word, so that camelCase is two.
constexpr const char* kCasedWords =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* kCasedTriples =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
// Words of letters that have a case, except alphabets and signs that DeepSeek's list of such
// letters leaves out.
constexpr const char* kCasedAlphabets =
    R"(\s?(?:(?![\x{560}-\x{588}\x{10c7}\x{10cd}\x{10d0}-\x{10ff}\x{1c80}-\x{1c8f}\x{2d00}-\x{2d2f}\x{a790}-\x{a7ff}\x{ab30}-\x{ab6f}\x{10570}-\x{105bf}\x{16e40}-\x{16e7f}\x{1d400}-\x{1d7ff}\x{1df00}-\x{1dfff}])[\p{Lu}\p{Ll}\p{Lt}])+)";
constexpr const char* kWidePunctuation =
    R"(\s?[!-/:-~\x{ff01}-\x{ff0f}\x{ff1a}-\x{ff5e}\x{2018}-\x{201f}\x{3000}-\x{3002}]+)";
constexpr const char* kIdeographs = R"([\x{4e00}-\x{9fa5}\x{800}-\x{4e00}\x{ac00}-\x{d7ff}]+)";
constexpr const char* kKanaRuns = R"([\x{4e00}-\x{9fa5}\x{3040}-\x{30ff}]+)";
// An ASCII sign is part of the ASCII word that follows it.
constexpr const char* kAsciiGlued =
    R"([!-/:-@\[-`{-~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

const std::vector<SplitRule>& SplitRules() {
  static const std::vector<SplitRule> rules = {
#define AICF_SPLIT_RULE(name, nfc, whole, bos, ...) {name, nfc, whole, bos, {__VA_ARGS__}},
#include "compiler/import/tokenizer/split_rules.def"
#undef AICF_SPLIT_RULE
  };
  return rules;
}

}  // namespace

const SplitRule* FindSplitRule(std::string_view name) {
  const auto found = std::ranges::find(SplitRules(), name, &SplitRule::name);
  return found == SplitRules().end() ? nullptr : &*found;
}

}  // namespace aicf
