/// Makes an artifact whose device code does not match its plan: it passes verification, but one
/// step computes something else. Only running it can reveal that.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "schema/artifact.h"

namespace aicf::gpu {

/// Replaces the device code of a step by that of `wrong`, a problem with the same operands. The
/// code gets the symbol that the plan expects, and hashes are correct. REQUIRES: no other step uses
/// the step's image. Errors: those of compiling.
Status PlantWrongImage(schema::Contents& contents, uint32_t step, const abi::Problem& wrong);

}  // namespace aicf::gpu
