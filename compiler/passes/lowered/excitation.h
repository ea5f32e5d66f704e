/// Squeeze and excitation as four steps of a program, and the one step that stands for them.
#pragma once

#include "compiler/passes/lowered/fuse.h"

namespace aicf {

/// mean over positions -> product -> product -> elementwise step that reads the second product's
/// result for every position. Positions of steps in an editor.
struct ExcitationSteps {
  int mean = -1, squeeze = -1, excite = -1, scale = -1;
};

/// The excite step of four steps of these families, each the only one to make what the next reads;
/// or what about their operands keeps it from existing.
Fusion ExcitationOf(const ir::StepEditor& editor, const ExcitationSteps& steps);

}  // namespace aicf
