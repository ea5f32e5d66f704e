/// Whether sizes are small enough to be computed with.
#pragma once

#include "base/status.h"
#include "kernels/abi/problem.h"

namespace aicf::schema {

/// Every view within kMaxViewElements (schema/verify.h), as the verifier demands, and as whoever
/// asks kernels for candidates, costs or workspaces needs: they multiply extents unchecked.
/// Errors: kResource.
Status CheckMagnitudes(const abi::Problem& problem);

}  // namespace aicf::schema
