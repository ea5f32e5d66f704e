/// The text of one request as its tokens are drawn.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "runtime/language/stop_text.h"
#include "runtime/text/detokenizer.h"

namespace aicf::language {

/// Thread safety: one call at a time.
class TextOutput {
 public:
  /// The text continues that of `prompt`: a space in front of its first word is kept, and a
  /// character that the prompt began is completed. Errors: kInvalidArgument for an id that the
  /// tokenizer does not have.
  static Result<TextOutput> Create(const text::Tokenizer& tokenizer,
                                   std::span<const uint32_t> prompt,
                                   std::vector<std::string> stops);

  /// The text that can be shown after this token. Ids beyond the tokenizer's last one, which a
  /// model with a padded vocabulary can draw, give no text.
  Result<std::string> Push(uint32_t id);
  /// To be called where the text ends: returns what was held back.
  std::string Finish();

  bool stopped() const { return stop_.stopped(); }

 private:
  TextOutput(const text::Tokenizer& tokenizer, std::vector<std::string> stops)
      : detokenizer_(tokenizer), stop_(std::move(stops)), tokens_(tokenizer.data().tokens.size()) {}

  text::Detokenizer detokenizer_;
  StopText stop_;
  size_t tokens_;
};

}  // namespace aicf::language
