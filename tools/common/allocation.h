/// Failed allocations of a tool that has nothing to lose but its temporary files.
#pragma once

#include <string_view>

namespace aicf::tools {

/// From here on an allocation that fails ends the process: temporary files are removed, one line is
/// printed
/// ("name: resource: out of host memory"), and the exit code is that of kResource. No exception is
/// thrown, so that neither a destructor, a thread nor a library that is not prepared for one turns
/// it into an abort or a crash. Before main the same holds under the name "aicf". `name` has to
/// live as long as the process.
///
/// Not for tools whose errors have to reach a caller: there exceptions are made a Status.
void EndOnFailedAllocation(std::string_view name);

}  // namespace aicf::tools
