/// The model file: opened once, checked, identified.
#pragma once

#include <string>

#include "base/open_file.h"
#include "base/status.h"

namespace aicf {

using ModelFile = OpenedFile;

/// OpenRegularFile for a protobuf. Errors: also kBadModel above 2 GiB - 1, the largest protobuf
/// there is.
Result<ModelFile> OpenModelFile(const std::string& path);

}  // namespace aicf
