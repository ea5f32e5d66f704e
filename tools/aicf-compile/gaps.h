/// What aicf-compile --check prints about a model that cannot be compiled.
#pragma once

#include <string>

#include "compiler/check/gaps.h"

namespace aicf::tools {

/// A heading, then two or three lines a gap: what, its nodes, what helps.
std::string GapsText(const std::string& model, const GapReport& report);

}  // namespace aicf::tools
