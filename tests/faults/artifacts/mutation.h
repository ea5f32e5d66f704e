/// Damages programs on purpose in their fields instead of their bytes: it gives fields extreme
/// values or those of other fields, exchanges kernels, and makes lists that have too few or too
/// many entries or are out of order.
#pragma once

#include "schema/program.h"
#include "tests/faults/artifacts/random.h"

namespace aicf::hostile {

/// Changes a few fields. Often it also changes what follows from them (bytes of buffers, places in
/// the arena, workspaces, launches, symbols), so that the damage passes the checks that compare
/// fields with what they follow from.
schema::Program Mutated(const schema::Program& program, Random& random);

}  // namespace aicf::hostile
