/// What a tokenizer is made of, as plain data: importers fill it from a model's files, an artifact
/// stores it, and text::Tokenizer::Create (runtime/text/tokenizer.h) turns it into a tokenizer.
/// CheckTokenizerData says which data is consistent.
///
/// Text is split in this order: added tokens, normalisation, prefix space, patterns, vocabulary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace aicf::schema {

/// No token is longer. It bounds what looking for the longest one can cost.
inline constexpr size_t kMaxTokenBytes = 1024;
/// Ids fit in 24 bits.
inline constexpr size_t kMaxTokens = size_t{1} << 24;

/// How a piece of text becomes tokens of the vocabulary.
enum class TokenizerKind : uint8_t {
  kByteBpe,           ///< merges of bytes by rank (GPT-2, Llama 3, Qwen)
  kSentencePieceBpe,  ///< merges of characters, by rank or by score (Llama 2, Gemma)
  kUnigram,           ///< the segmentation whose scores add up to the most (T5, XLM-R)
  kWordPiece,         ///< the longest prefix, again and again (BERT)
  kCount,
};

/// Numbered as in GGUF, where the first is 1.
enum class TokenType : uint8_t {
  kNormal = 1,
  kUnknown,
  kControl,      ///< never stands for text that a user wrote
  kUserDefined,  ///< found in the text before anything else
  kUnused,       ///< the vocabulary never produces it; an added token may be one
  kByte,         ///< spelled <0xNN>: one byte of a character that is not in the vocabulary
  kCount,
};

/// One step on the text, before it is split by patterns. Steps are taken in the order of
/// TokenizerData::normalizers.
enum class NormalizerStep : uint8_t {
  kNfc,
  kNfd,
  kNfkc,
  kNfkd,
  kLowercase,
  kStripAccents,    ///< NFD, then combining marks (Mn) are left out
  kCleanText,       ///< control characters are left out, white space becomes a space
  kSpaceCjk,        ///< a space on either side of an ideograph
  kCollapseSpaces,  ///< no spaces at the ends, one where there are several
  kCount,
};

/// Which parts a regular expression leaves of a text.
enum class SplitKeep : uint8_t {
  kMatchesAndGaps,  ///< every match is a piece, and so is what lies between two
  kMatches,
  kGaps,
  kCount,
};

/// A regular expression in PCRE2's syntax, \p classes included. Its matches are found one after the
/// other from the left. Each pattern applies to all pieces that the pattern before it has left.
struct SplitPattern {
  std::string expression;
  SplitKeep keep = SplitKeep::kMatchesAndGaps;
};

/// Where a space is put before a text, so that a word at its beginning has the same tokens as
/// inside a text.
enum class SpacePrefix : uint8_t {
  kNever,
  kFirst,   ///< before the text, unless it begins with an added token
  kAlways,  ///< before what follows an added token, too
  kCount,
};

/// Two neighbouring tokens become one: the token that is spelled as both together.
struct TokenMerge {
  uint32_t left = 0;
  uint32_t right = 0;
};

/// A token that is looked for in the text itself; its spelling is its entry in `tokens`.
struct AddedToken {
  uint32_t id = 0;
  bool special = false;      ///< only where the caller allows special tokens
  bool strip_left = false;   ///< takes the white space before it
  bool strip_right = false;  ///< takes the white space after it
  bool single_word = false;  ///< not next to a letter, a digit or '_'
};

struct TokenizerData {
  TokenizerKind kind = TokenizerKind::kByteBpe;

  /// By id. The bytes that a token stands for: kByteBpe has bytes, not GPT-2's letters for them
  /// (schema/byte_alphabet.h); SentencePiece kinds have U+2581 for a space.
  std::vector<std::string> tokens;
  /// By id, or empty: all kNormal.
  std::vector<TokenType> types;
  /// By id; for kUnigram, and for kSentencePieceBpe without merges. Otherwise empty or unused.
  std::vector<float> scores;
  /// By rank, the first to be applied first; kByteBpe, or kSentencePieceBpe instead of scores.
  std::vector<TokenMerge> merges;
  std::vector<AddedToken> added;

  std::vector<NormalizerStep> normalizers;
  std::vector<SplitPattern> patterns;
  SpacePrefix space_prefix = SpacePrefix::kNever;
  /// No prefix where the text begins with a space anyhow.
  bool prefix_unless_space = false;
  /// A piece that is a token of the vocabulary is that token, whatever the merges say (Llama 3).
  bool ignore_merges = false;
  /// Unknown characters next to each other are one unknown token.
  bool fuse_unknown = false;

  std::optional<uint32_t> unknown, bos, eos, pad;
  bool add_bos = false;  ///< WordPiece: bos is [CLS], eos is [SEP]
  bool add_eos = false;

  /// kWordPiece: what a token that continues a word begins with, and the characters of the longest
  /// word that is looked at; a longer one is unknown.
  std::string continuation = "##";
  uint32_t longest_word = 100;
  /// kWordPiece: decoding puts no space before punctuation and contractions.
  bool clean_up_spaces = false;
};

TokenType TypeOf(const TokenizerData& data, uint32_t id);

/// The byte of a token that is spelled <0xNN>.
std::optional<uint8_t> ByteOf(std::string_view spelling);

/// Ranges, counts and numbers that every kind asks for. Errors: kBadModel, kUnsupported.
Status CheckTokenizerData(const TokenizerData& data);

}  // namespace aicf::schema
