/// --rebuild: an artifact's bytes once more from its model.
#pragma once

#include <span>
#include <string>

#include "base/status.h"
#include "compiler/compiler.h"
#include "schema/artifact.h"

namespace aicf::tools {

/// Before compiling: whether the model and the bound values are those that the artifact was made
/// from. Errors: kInvalidArgument naming what differs; those of reading the model.
Status CheckInputs(const schema::Artifact& artifact, const std::string& model,
                   const CompileOptions& options);

/// "the same 1234 bytes". Errors: kInvalidArgument when the tool or the device compiler is another
/// than the artifact's, naming both; kCheckFailed when bytes differ all the same, naming the
/// sections.
Result<std::string> CompareRebuilt(const schema::Artifact& artifact, const CompileResult& rebuilt);

}  // namespace aicf::tools
