/// The tokenizer in a GGUF file's metadata (tokenizer.ggml.*) to plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/status.h"
#include "compiler/import/gguf/gguf.h"
#include "schema/tokenizer.h"

namespace aicf {

struct GgufTokenizer {
  schema::TokenizerData data;
  std::vector<uint32_t> end_tokens;  ///< ids that end a text, ascending (end_tokens.h)
};

/// What the file describes; text::Tokenizer::Create checks the data further. Nothing where the file
/// has no tokenizer. Errors: kBadModel naming the metadata; kUnsupported naming a model of
/// tokenizer, a way to split text (split_rules.def) or a normalisation that is not known.
///
/// A file may say less than the tokenizer from which it was made. Then what models of its kind have
/// in common applies: the expressions and NFC by the name of the splitting, white space behind
/// Phi-3's special tokens, letters in lower case without accents for WordPiece.
Result<std::optional<GgufTokenizer>> ReadGgufTokenizer(const gguf::GgufFile& file);

}  // namespace aicf
