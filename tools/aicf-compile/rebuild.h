/// --rebuild: reproduces an artifact's bytes from its model.
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

/// Compares the rebuilt artifact with the original; gives "the same 1234 bytes" if they are equal.
/// Errors: kInvalidArgument naming both versions when the artifact was made by another tool or
/// device compiler; kCheckFailed naming the sections when the bytes differ although these agree.
Result<std::string> CompareRebuilt(const schema::Artifact& artifact, const CompileResult& rebuilt);

}  // namespace aicf::tools
