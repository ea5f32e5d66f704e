/// The tokens at which generating a text stops.
#pragma once

#include <cstdint>
#include <vector>

#include "schema/tokenizer.h"

namespace aicf {

/// `named`, which are the ids that a model's files say end a text, the tokenizer's eos, and the
/// control tokens whose spelling is known to (end_tokens.def): ascending, each once, in range.
std::vector<uint32_t> EndTokens(const schema::TokenizerData& data, std::vector<uint32_t> named);

}  // namespace aicf
