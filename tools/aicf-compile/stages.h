/// --stop-after: the program of a stage as text.
#pragma once

#include <string>

#include "base/status.h"
#include "tools/aicf-compile/options.h"

namespace aicf::tools {

/// Runs no further than needed; edits need the whole plan. Of several entry points, graphs and
/// lowered programs follow each other, each after a line with its name, as in an artifact; plans
/// are one. `log`: receives the decisions made. REQUIRES: args.stop_after.
Result<std::string> StageText(const CompileArgs& args, DecisionLog* log);

/// Compiles the model, or the program of the artifact with --from.
Result<CompileResult> CompileAsAsked(const CompileArgs& args, const CompileOptions& options);

}  // namespace aicf::tools
