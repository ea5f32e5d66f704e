/// The tokens at which generating a text stops.
#pragma once

#include <cstdint>
#include <vector>

#include "schema/tokenizer.h"

namespace aicf {

/// The tokens that end a text: `named`, the ids for which a model's files say so; the tokenizer's
/// eos; and control tokens whose spelling is known to end a text (end_tokens.def). Ascending, each
/// once, in range.
std::vector<uint32_t> EndTokens(const schema::TokenizerData& data, std::vector<uint32_t> named);

}  // namespace aicf
