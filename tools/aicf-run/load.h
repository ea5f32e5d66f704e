/// Loading the artifact that aicf-run is given.
#pragma once

#include <memory>
#include <string>

#include "aicf/aicf.h"
#include "base/status.h"
#include "schema/artifact.h"
#include "tools/common/keys.h"

namespace aicf::tools {

/// Errors: those of Program::Load; every message names the file.
Result<std::shared_ptr<const Program>> LoadProgram(const std::string& path,
                                                   const RequiredSignature& signature);

/// Loads the same file with the optional sections, which running does not need. Errors: as
/// LoadProgram; kBadArtifact when the file is no longer the one that `program` was loaded from.
Result<std::shared_ptr<const schema::Artifact>> LoadWithOptional(const std::string& path,
                                                                 const RequiredSignature& signature,
                                                                 const Program& program);

}  // namespace aicf::tools
