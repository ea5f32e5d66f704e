/// Reads what `aicf-run --export-profile` writes.
#pragma once

#include <string>

#include "base/status.h"
#include "schema/program.h"
#include "tools/common/decisions.h"

namespace aicf::tools {

/// {"device", "replay_us" (absent when the trace does not have it), "steps": [{"step", "us",
/// "kernel" (only if it is not the plan's kernel)}...]}, steps in the order in which they ran.
/// Events of other kinds are ignored, so that a trace which was extended by hand can still be read.
/// Errors: kIo; kInvalidArgument naming the file, for a file that is no such trace, for a step that
/// occurs twice, and for one that `program` does not have or that has other source nodes, another
/// kernel or another size there.
Result<Json> ReadProfile(const std::string& path, const schema::Program& program);

}  // namespace aicf::tools
