/// The artifact that aicf-run was given.
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

/// The same file with the sections that running does not read. Errors: also kBadArtifact when it
/// is another file than the program's by now.
Result<std::shared_ptr<const schema::Artifact>> LoadWithOptional(const std::string& path,
                                                                 const RequiredSignature& signature,
                                                                 const Program& program);

}  // namespace aicf::tools
