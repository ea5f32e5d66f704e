/// Metas of a language model that nobody gives: those of requests in the middle of a text.
#pragma once

#include "tools/aicf-run/tensors.h"

namespace aicf::tools {

/// Gives the selection the metas of made-up requests, unless one of them was read from a file:
/// one for each row of the entry point, as far as the cache has pages for them, each with tokens,
/// positions and pages of its own, and greedy. With zeros every request would be idle, so that its
/// attention would see no keys. Always the same for the same program and entry point. Leaves
/// programs that generate no text alone. Errors: kBadArtifact where the program's metas are not
/// those of a language model.
Status MakeUpRequests(const Program& program, Selection* selection);

}  // namespace aicf::tools
