/// Lets states take their new value in place, instead of by a copy at the end of the replay.
#pragma once

#include <vector>

#include "base/status.h"
#include "compiler/passes/pass.h"
#include "schema/program.h"

namespace aicf {

/// Buffers of the program: a state's value before and after a replay.
struct PlannedState {
  uint32_t past = 0;
  uint32_t present = 0;
};

/// Lets the steps that make a state's new value write it into the state's own place. That is
/// possible where every read of the old value is by an earlier step, by the writing step itself if
/// its kernel allows the operand in place, or of elements of the state that are not overwritten.
/// Returns for each step whether it is a copy that is not needed any more; the caller removes
/// these. Records one "state" decision per state with the condition that failed. REQUIRES: kernels
/// are chosen, nothing is aliased yet; each present buffer is written by one step, a copy at the
/// end. Errors: kBadArtifact when the loops do not nest.
Result<std::vector<bool>> UpdateStatesInPlace(const std::vector<PlannedState>& states,
                                              schema::Program& program, PassContext& context);

}  // namespace aicf
