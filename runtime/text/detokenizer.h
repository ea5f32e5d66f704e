/// Text of tokens as they come: what a caller prints while a model generates.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"
#include "runtime/text/tokenizer.h"

namespace aicf::text {

/// Every piece is valid UTF-8, and all pieces together are what Tokenizer::Decode gives for all
/// ids: bytes that may be the beginning of a character wait for the rest of it. Thread safety: one
/// call at a time per object. Holds a copy of the tokenizer, which shares its data.
class Detokenizer {
 public:
  explicit Detokenizer(Tokenizer tokenizer, const DecodeOptions& options = {})
      : tokenizer_(std::move(tokenizer)), options_(options) {}

  /// The text that can be shown after this token: often nothing, or more than the token's own text.
  /// Errors: kInvalidArgument for an id that is out of range; nothing has changed then.
  Result<std::string> Push(uint32_t id);

  /// Returns what still waits, with U+FFFD for a character that never ended. Afterwards the object
  /// is as if new.
  std::string Finish();

 private:
  Tokenizer tokenizer_;
  DecodeOptions options_;
  bool first_ = true;
  std::string waiting_;
};

}  // namespace aicf::text
