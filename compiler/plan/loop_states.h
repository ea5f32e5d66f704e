/// Lets states of loops change in place, instead of by a copy at the end of every trip.
#pragma once

#include <vector>

#include "base/status.h"
#include "compiler/passes/pass.h"
#include "schema/program.h"

namespace aicf {

/// Lets the step that makes a state's next value write it into the state itself. That is possible
/// where nothing needs the old value between that step and the end of the trip, and where the
/// step's kernel, if it reads the state, allows that operand in place. Returns for each step
/// whether it is a copy into a state that is not needed any more; the caller removes these. Records
/// one "in-place" decision per copy with the condition that failed.
/// REQUIRES: kernels are chosen, nothing is aliased yet. Errors: kBadArtifact when
/// the loops do not nest.
Result<std::vector<bool>> ChangeStatesInPlace(schema::Program& program, PassContext& context);

/// Removes steps and moves the ranges of entry points and loops. REQUIRES: no loop loses all its
/// steps.
void RemoveSteps(schema::Program& program, const std::vector<bool>& gone);

/// Records why steps are not fused that became neighbours, or producer and consumer, when steps
/// between them were removed. Edges that existed before have their decision already. `gone`: the
/// steps that were removed, by their numbers in the program before.
/// Errors: a wish to have them fused.
Status ExplainNeighbours(const schema::Program& program, const std::vector<bool>& gone,
                         PassContext& context);

}  // namespace aicf
