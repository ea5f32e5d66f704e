/// An artifact whose device code is not what its plan says: everything about it verifies, and one
/// step computes something else. What only running it can show.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "schema/artifact.h"

namespace aicf::gpu {

/// Replaces the device code of a step by that of `wrong`, a problem with the same operands, under
/// the right symbol and with right hashes. REQUIRES: no other step uses the step's image. Errors:
/// those of compiling.
Status PlantWrongImage(schema::Contents& contents, uint32_t step, const abi::Problem& wrong);

}  // namespace aicf::gpu
