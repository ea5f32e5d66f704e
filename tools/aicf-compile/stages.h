/// --stop-after: the program of a stage as text.
#pragma once

#include <string>

#include "base/status.h"
#include "tools/aicf-compile/options.h"

namespace aicf::tools {

/// Compiles no further than the stage, except that edits need the whole plan. With several entry
/// points, their graphs or lowered programs follow each other, each after a line with its name, as
/// in an artifact; there is only one plan. `log` receives the decisions made.
/// REQUIRES: args.stop_after is set.
Result<std::string> StageText(const CompileArgs& args, DecisionLog* log);

/// Compiles the model or, with --from, the lowered program of that artifact.
Result<CompileResult> CompileAsAsked(const CompileArgs& args, const CompileOptions& options);

}  // namespace aicf::tools
