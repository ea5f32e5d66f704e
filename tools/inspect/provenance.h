/// Values of the provenance section in words.
#pragma once

#include <string>

#include "tools/common/decisions.h"

namespace aicf::tools {

/// A text is returned as it is, an edit in the words in which it was asked for. The items of a
/// short list follow each other; of a long list the number of items and a hash are given. Anything
/// else is JSON. The result is not escaped.
std::string ProvenanceText(const Json& value);

}  // namespace aicf::tools
