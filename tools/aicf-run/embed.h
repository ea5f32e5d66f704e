/// aicf-run with an embedding model: the vector of a prompt.
#pragma once

#include <memory>

#include "aicf/aicf.h"
#include "base/status.h"
#include "tools/aicf-run/options.h"

namespace aicf::tools {

/// Prints the vector to stdout, its elements separated by spaces, or one object with --json.
/// Options about generating text are ignored. Errors: those of Embedder; kUnsupported for --chat.
Status RunEmbed(std::shared_ptr<const Program> program, const RunOptions& options);

}  // namespace aicf::tools
