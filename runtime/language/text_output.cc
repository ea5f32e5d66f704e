#include "runtime/language/text_output.h"

#include <algorithm>

namespace aicf::language {
namespace {

/// The end of a prompt that can matter to what follows: one token with text, and the bytes of a
/// character that has begun.
constexpr size_t kPromptTail = 16;

}  // namespace

Result<TextOutput> TextOutput::Create(const text::Tokenizer& tokenizer,
                                      std::span<const uint32_t> prompt,
                                      std::vector<std::string> stops) {
  TextOutput output(tokenizer, std::move(stops));
  for (const uint32_t id : prompt.last(std::min(prompt.size(), kPromptTail))) {
    if (id >= output.tokens_) continue;
    AICF_RETURN_IF_ERROR(output.detokenizer_.Push(id).status());  // the prompt's text is not said
  }
  return output;
}

Result<std::string> TextOutput::Push(uint32_t id) {
  if (id >= tokens_) return std::string();
  AICF_ASSIGN_OR_RETURN(const std::string piece, detokenizer_.Push(id));
  return stop_.Push(piece);
}

std::string TextOutput::Finish() {
  if (stop_.stopped()) return {};
  std::string rest = stop_.Push(detokenizer_.Finish());
  return rest + stop_.Finish();
}

}  // namespace aicf::language
