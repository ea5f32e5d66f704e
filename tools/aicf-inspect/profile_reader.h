/// Reads what `aicf-run --export-profile` writes.
#pragma once

#include <string>

#include "base/status.h"
#include "schema/program.h"
#include "tools/common/decisions.h"

namespace aicf::tools {

/// {"device", "replay_us" (absent when the trace does not say), "steps": [{"step", "us", "kernel"
/// (only where another ran than the plan's)}...]} in the order they ran. Events of other kinds are
/// passed over, so a trace that was extended by hand is still read.
/// Errors: kIo; kInvalidArgument naming the file, for what is no such trace, for a step twice, and
/// for one that `program` does not have or that has other source nodes there.
Result<Json> ReadProfile(const std::string& path, const schema::Program& program);

}  // namespace aicf::tools
