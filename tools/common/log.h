/// Attaches the library's logging callback to spdlog on stderr.
#pragma once

#include <string_view>

namespace aicf::tools {

/// Warnings and errors are shown; every message is escaped and prefixed with the tool's name.
void AttachLog(std::string_view tool);
/// --verbose: everything is shown.
void SetVerbose();
/// Ends logging before static destruction starts.
void DetachLog();

}  // namespace aicf::tools
