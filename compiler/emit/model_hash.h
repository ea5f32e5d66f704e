/// Content hash of the source model, for provenance.
#pragma once

#include <string>

#include "base/status.h"

namespace aicf {

/// XXH3-128 of the file's bytes as hex. External data is not included: its tensors are hashed in
/// the artifact's weights. The file may be of any size. Errors: those of OpenRegularFile; kIo.
/// Cost: one sequential read.
Result<std::string> HashModelFile(const std::string& path);

}  // namespace aicf
