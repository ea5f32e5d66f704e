/// What --help says of a tool's exit codes. docs/errors.md explains them with examples.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "base/status.h"

namespace aicf::tools {

/// A code that a tool can end with. Empty `words` stand for those that all tools have for the code.
struct ToolCode {
  Code code;
  std::string_view words = {};
};

/// "Exit codes: 0 ok, 2 usage, ..." in ascending order, on lines of at most 98 columns. `own` are
/// the codes that not every tool ends with, and those for which a tool has words of its own. The
/// others (usage, resources, I/O, a defect, signals) are listed for every tool.
std::string ExitCodesText(std::initializer_list<ToolCode> own);

}  // namespace aicf::tools
