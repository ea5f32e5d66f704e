/// A request of the Generator: what was asked for, and how far it is.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "aicf/generator.h"
#include "runtime/language/layout.h"
#include "runtime/language/sequence.h"
#include "runtime/language/text_output.h"

namespace aicf::language {

struct Request {
  uint64_t id = 0;
  GenerateRequest asked;  ///< without its prompt, which the sequence has
  Sequence sequence;
  std::optional<TextOutput> output;  ///< absent without a tokenizer
  bool ends_with_context = false;    ///< most_tokens is the context's limit, not the caller's
  std::chrono::steady_clock::time_point submitted;

  GenerateResult result;
  size_t polled_tokens = 0, polled_bytes = 0;  ///< of the result: what Poll has given
  bool cancelled = false;                      ///< ends after the run that goes on, if one does
  bool forgotten = false;                      ///< on_progress is not called any more
  bool end_untold = false;  ///< finished, and the call of on_progress that says so has not returned

  bool finished() const { return result.finish != FinishReason::kNone; }
  double MillisecondsSinceSubmit() const;

  /// Takes the token that was drawn last, and returns the text that can be shown now. Sets
  /// result.finish where the request ends with it. `end_tokens` ascend.
  Result<std::string> Take(const std::vector<uint32_t>& end_tokens);
  /// Ends the request, and returns the text that was held back.
  std::string Finish(FinishReason reason);
};

/// Checks what was asked for, and makes room for all that it may draw. Errors: those of
/// Generator::Submit.
Result<std::shared_ptr<Request>> MakeRequest(GenerateRequest asked, const Layout& layout,
                                             const text::Tokenizer* tokenizer);

}  // namespace aicf::language
