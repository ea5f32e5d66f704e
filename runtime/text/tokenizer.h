/// Text to token ids and back.
///
/// A Tokenizer is made once from checked data and never changes.
/// Thread safety: every function may be called from any number of threads at once.
/// Ownership: copies share one immutable object; ids and texts that are returned are the caller's.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "schema/tokenizer.h"

namespace aicf::text {

/// Bytes of the longest text that one call takes.
inline constexpr size_t kMaxTextBytes = size_t{1} << 30;

struct EncodeOptions {
  /// Special tokens that are spelled out in the text become those tokens. Leave it off for text
  /// that others wrote: "<|im_end|>" is then text like any other.
  bool allow_special = false;
  /// bos and eos go around the text where the model wants them (TokenizerData::add_bos, add_eos).
  bool add_special = true;
};

struct DecodeOptions {
  /// Special and control tokens leave nothing in the text; otherwise their spelling.
  bool skip_special = true;
};

/// A stretch of a text.
struct TextPiece {
  std::string_view text;
  bool allow_special = false;  ///< as in EncodeOptions, for tokens that lie inside the piece
};

class Tokenizer {
 public:
  /// Checks all of `data`: kinds, counts, ids in range, no token twice in the vocabulary, merges
  /// whose result is a token, finite scores, expressions that compile. Errors: kBadModel naming the
  /// first thing that is wrong; kUnsupported above a limit. Cost: proportional to the data; about a
  /// second for half a million tokens at most.
  static Result<Tokenizer> Create(schema::TokenizerData data);

  /// Any bytes may be encoded. Those that are not UTF-8 are bytes like all others where the
  /// vocabulary is byte-level; elsewhere they become byte tokens, or are unknown. What the
  /// vocabulary has no token for is left out where there is no unknown token either. Errors:
  /// kResource where an expression needs more steps on this text than a bound that is proportional
  /// to its length, or the text is longer than kMaxTextBytes.
  /// Cost: n log n in the text's bytes, whatever they are; memory proportional to them.
  Result<std::vector<uint32_t>> Encode(std::string_view text,
                                       const EncodeOptions& options = {}) const;

  /// Encodes the pieces as one text, without bos and eos around it. Where one piece ends and the
  /// next begins matters only for special tokens, which are looked for inside pieces that allow
  /// them. Errors and cost: as Encode.
  Result<std::vector<uint32_t>> EncodePieces(std::span<const TextPiece> pieces) const;

  /// The bytes that the ids stand for. Errors: kInvalidArgument for an id that is out of range.
  Result<std::string> DecodeBytes(std::span<const uint32_t> ids,
                                  const DecodeOptions& options = {}) const;

  /// The same as valid UTF-8: U+FFFD stands for what is not (runtime/text/valid_utf8.h).
  Result<std::string> Decode(std::span<const uint32_t> ids,
                             const DecodeOptions& options = {}) const;

  /// What was given to Create.
  const schema::TokenizerData& data() const;

  /// Appends the bytes of one token. `first` is true before the first token that leaves something.
  /// Errors: as DecodeBytes. For Detokenizer, which does for one token after the other what
  /// DecodeBytes does for all.
  Status AppendBytes(uint32_t id, const DecodeOptions& options, bool* first,
                     std::string* out) const;

 private:
  struct Parts;
  explicit Tokenizer(std::shared_ptr<const Parts> parts) : parts_(std::move(parts)) {}

  std::shared_ptr<const Parts> parts_;
};

}  // namespace aicf::text
