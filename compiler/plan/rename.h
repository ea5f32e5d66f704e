/// Lets one buffer take the place of another in all steps, where a state is changed in place.
#pragma once

#include <algorithm>

#include "schema/program.h"

namespace aicf {

/// Puts buffer `to` where the step names `from`: operands, results and guards.
inline void RenameInStep(schema::Step& step, uint32_t from, uint32_t to) {
  std::ranges::replace(step.inputs, from, to);
  std::ranges::replace(step.outputs, from, to);
  for (schema::Guard& g : step.guards) g.buffer = g.buffer == from ? to : g.buffer;
}

/// The same in every step.
inline void RenameInSteps(schema::Program& program, uint32_t from, uint32_t to) {
  for (schema::Step& step : program.steps) RenameInStep(step, from, to);
}

}  // namespace aicf
