/// Unicode normalisation of text, step by step.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "schema/tokenizer.h"

namespace aicf::text {

/// `text` after every step, in order. Bytes that are not UTF-8 stay as they are.
/// Cost: n log n in the text's bytes; Unicode 14 (utf8proc).
std::string Normalize(std::string_view text, const std::vector<schema::NormalizerStep>& steps);

}  // namespace aicf::text
