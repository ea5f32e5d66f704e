/// Hugging Face's tokenizer.json to the plain data of a tokenizer.
#pragma once

#include <string_view>

#include "base/status.h"
#include "schema/tokenizer.h"

namespace aicf {

/// What `json`, the text of a tokenizer.json, describes; text::Tokenizer::Create checks the data
/// further. bos and eos are those that the post-processor's template puts around a single text.
/// Errors: kBadModel for text that is not such a file; kUnsupported naming the part (a normaliser,
/// a pre-tokenizer, a model's option) that would change the ids and is not known. Cost:
/// proportional to the text.
Result<schema::TokenizerData> ReadTokenizerJson(std::string_view json);

}  // namespace aicf
