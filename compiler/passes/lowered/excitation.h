/// Squeeze and excitation as four steps of a program, and the one step that stands for them.
#pragma once

#include "compiler/passes/lowered/fuse.h"

namespace aicf {

/// mean over positions -> product -> product -> elementwise step that reads the second product's
/// result for every position. Positions of steps in an editor.
struct ExcitationSteps {
  int mean = -1, squeeze = -1, excite = -1, scale = -1;
};

/// The excite step that replaces the four steps, or the condition on their operands that rules it
/// out. REQUIRES: the steps have these families, and each alone makes what the next one reads.
Fusion ExcitationOf(const ir::StepEditor& editor, const ExcitationSteps& steps);

}  // namespace aicf
