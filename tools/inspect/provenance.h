/// Values of the provenance section in words.
#pragma once

#include <string>
#include <vector>

#include "tools/common/decisions.h"

namespace aicf::tools {

/// A text is returned as it is, an edit in the words in which it was asked for. The items of a
/// short list follow each other; of a long list or object the number of entries and a hash are
/// given. Of a calibration there is a line for the whole and one for each entry point. Anything
/// else is JSON. Lines are not escaped, and there is at least one.
std::vector<std::string> ProvenanceLines(const Json& value);

/// The same in one line.
std::string ProvenanceText(const Json& value);

}  // namespace aicf::tools
