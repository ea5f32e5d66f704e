/// Values of the provenance section in words.
#pragma once

#include <string>

#include "tools/common/decisions.h"

namespace aicf::tools {

/// Text as it is; an edit in the words in which it was asked for; the items of a short list one
/// after the other, of a long one their number and a hash; anything else as JSON. Not escaped.
std::string ProvenanceText(const Json& value);

}  // namespace aicf::tools
