/// aicf-run with an embedding model: the vector of a prompt.
#pragma once

#include <memory>

#include "aicf/aicf.h"
#include "base/status.h"
#include "tools/aicf-run/options.h"

namespace aicf::tools {

/// The vector on stdout, its elements apart by spaces; with --json one object. Options about how a
/// text goes on are not read. Errors: those of Embedder; kUnsupported for --chat.
Status RunEmbed(std::shared_ptr<const Program> program, const RunOptions& options);

}  // namespace aicf::tools
