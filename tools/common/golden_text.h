/// The golden section in one line.
#pragma once

#include <string>

#include "base/status.h"
#include "schema/artifact.h"

namespace aicf::tools {

/// "2 samples, outputs given" / "computed by the reference kernels" / "given for 1, computed for
/// 1"; empty for an artifact without samples. REQUIRES: an artifact read with its optional
/// sections. Errors: kBadArtifact.
Result<std::string> GoldenText(const schema::Artifact& artifact);

}  // namespace aicf::tools
