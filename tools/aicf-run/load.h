/// The artifact that aicf-run was given.
#pragma once

#include <memory>
#include <string>

#include "aicf/aicf.h"
#include "base/status.h"
#include "schema/artifact.h"

namespace aicf::tools {

/// Errors: those of Program::Load; every message names the file.
Result<std::shared_ptr<const Program>> LoadProgram(const std::string& path);

/// The same file with the sections that running does not read.
Result<std::shared_ptr<const schema::Artifact>> LoadWithOptional(const std::string& path);

}  // namespace aicf::tools
