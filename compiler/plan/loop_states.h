/// Loops' states that change where they are, instead of in a copy at the end of every trip.
#pragma once

#include <vector>

#include "base/status.h"
#include "compiler/passes/pass.h"
#include "schema/program.h"

namespace aicf {

/// Lets the step that makes a state's next value write it into the state itself, where between that
/// step and the end of the trip nothing needs the old value, and where a kernel that reads the
/// state allows it in place. Says which steps, copies into states, are not needed any more; the
/// caller removes them. Records one "in-place" decision per copy with the condition that failed.
/// REQUIRES: kernels are chosen, nothing is aliased yet. Errors: kBadArtifact when
/// the loops do not nest.
Result<std::vector<bool>> ChangeStatesInPlace(schema::Program& program, PassContext& context);

/// Removes steps and moves the ranges of entry points and loops. REQUIRES: no loop loses all its
/// steps.
void RemoveSteps(schema::Program& program, const std::vector<bool>& gone);

/// Records why pairs of steps that removed ones had stood between are not fused: an edge that there
/// was before has its decision. `gone`: of the program before. Errors: a wish to have them fused.
Status ExplainNeighbours(const schema::Program& program, const std::vector<bool>& gone,
                         PassContext& context);

}  // namespace aicf
