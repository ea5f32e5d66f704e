/// The lowered program that an artifact carries, as data for the report: the graph before fusion.
#pragma once

#include <string_view>

#include "tools/common/decisions.h"

namespace aicf::tools {

/// One element per entry point, in the section's order: {"entry" (absent for the only one), "name",
/// "buffers": [{name, dtype, shape, role}...], "steps": [{sources, inputs, outputs, problem, flop,
/// bytes}...]}; {"error": sentence} in place of what cannot be read. Empty for an empty section.
/// Constants are read without their data.
Json LoweredJson(std::string_view section);

}  // namespace aicf::tools
