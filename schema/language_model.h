/// What an artifact says about the language model in it, beside its program: the numbers that a
/// generator needs, the tokenizer, the chat template. Written by the compiler, read by the runtime;
/// the entry points, metas and states that belong to it are those of docs/language_models.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "schema/tokenizer.h"

namespace aicf::schema {

enum class LanguageTask : uint8_t {
  kGenerate,  ///< entry points prefill_T and decode_B
  kEmbed,     ///< entry points embed_T
  kCount,
};

struct LanguageModel {
  LanguageTask task = LanguageTask::kGenerate;
  std::string architecture;     ///< "llama", "gemma3", ...
  int64_t vocabulary = 0;       ///< rows of the logits
  int64_t context = 0;          ///< most positions of a request: N * page, or less
  int64_t trained_context = 0;  ///< what the model itself says; for users only
  // kGenerate only; 0 otherwise.
  int64_t page = 0;   ///< positions in a page of the cache
  int64_t pages = 0;  ///< P: pages that the cache has, for all requests together
  int64_t slots = 0;  ///< S: most requests at once
  /// Ids that end a text, ascending.
  std::vector<uint32_t> end_tokens;
  /// Name of the chat template's family (schema/chat_templates.def); empty: the model has none.
  std::string chat_template;
  /// Absent: ids only.
  std::optional<TokenizerData> tokenizer;
};

inline constexpr size_t kMaxLanguageNameBytes = 256;  ///< of an architecture, of a template
/// Tokens with all that belongs to them; larger ones are refused.
inline constexpr size_t kMaxLanguageBytes = size_t{1} << 29;

/// Checks what every reader relies on: numbers in range, a cache's numbers only where there is a
/// cache, ids of the vocabulary, a tokenizer that CheckTokenizerData takes. The tokenizer may have
/// more tokens than the vocabulary has rows, or fewer. Errors: kBadModel naming the field;
/// kUnsupported above a limit.
Status CheckLanguageModel(const LanguageModel& model);

/// The section's bytes. Deterministic. REQUIRES: CheckLanguageModel takes the model.
std::vector<std::byte> SerializeLanguageModel(const LanguageModel& model);
/// Accepts any alignment. Errors: kBadArtifact for bytes that are no such section, naming the
/// field. Cost: linear in bytes.size(), memory too.
Result<LanguageModel> ParseLanguageModel(std::span<const std::byte> bytes);

}  // namespace aicf::schema
