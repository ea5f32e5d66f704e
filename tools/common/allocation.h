/// What happens when memory runs out in a tool that has nothing to lose but its temporary files.
#pragma once

#include <string_view>

namespace aicf::tools {

/// From here on an allocation that fails ends the process: temporary files are removed, one line
/// ("name: resource: out of host memory") is printed, and the exit code is that of kResource. No
/// exception is thrown, because a destructor, a thread or a library that is not prepared for one
/// would turn it into an abort or a crash. Before main is reached the same happens under the name
/// "aicf". `name` has to live as long as the process.
///
/// Do not use it in tools whose errors have to reach a caller: those turn exceptions into a Status.
void EndOnFailedAllocation(std::string_view name);

}  // namespace aicf::tools
