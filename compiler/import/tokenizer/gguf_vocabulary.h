/// Tokens and merges in a GGUF file's metadata.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "compiler/import/gguf/gguf.h"
#include "schema/tokenizer.h"

namespace aicf::gguf_text {

/// "tokenizer.ggml.NAME".
std::string GgmlKey(std::string_view name);

template <class... Pieces>
Status WrongTokenizer(const Pieces&... pieces) {
  return Error(Code::kBadModel, "GGUF tokenizer: ", pieces...);
}

/// Tokens as the file spells them, their types, and scores where data->kind has such.
/// Errors: kBadModel naming the metadata.
Status ReadTokens(const gguf::GgufFile& file, schema::TokenizerData* data);

/// REQUIRES: tokens are still as the file spells them. Errors: kBadModel naming the merge.
Status ReadMerges(const gguf::GgufFile& file, schema::TokenizerData* data);

}  // namespace aicf::gguf_text
