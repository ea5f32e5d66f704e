/// Programs damaged on purpose, where they mean something: fields at extreme values or at those of
/// other fields, kernels that were not chosen, lists with entries too few, too many or out of
/// order.
#pragma once

#include "schema/program.h"
#include "tests/faults/artifacts/random.h"

namespace aicf::hostile {

/// A few fields changed. Often also what follows from them (bytes of buffers, places in the arena,
/// workspaces, launches, symbols), so that the damage passes the checks which compare such copies.
schema::Program Mutated(const schema::Program& program, Random& random);

}  // namespace aicf::hostile
