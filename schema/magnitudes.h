/// Whether sizes are small enough to be computed with.
#pragma once

#include "base/status.h"
#include "kernels/abi/problem.h"

namespace aicf::schema {

/// Checks that every view is within kMaxViewElements (schema/verify.h). The verifier demands it,
/// and whoever asks kernels for candidates, costs or workspaces needs it, since kernels multiply
/// extents unchecked.
/// Errors: kResource.
Status CheckMagnitudes(const abi::Problem& problem);

}  // namespace aicf::schema
