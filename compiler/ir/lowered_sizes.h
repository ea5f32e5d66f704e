/// Sizes of a lowered program that nothing can be computed with.
#pragma once

#include "base/status.h"
#include "compiler/ir/lowered.h"

namespace aicf::ir {

/// schema::CheckMagnitudes of every step, before any pass or kernel computes with its shapes.
/// Errors: kResource naming the step.
Status CheckMagnitudes(const Lowered& lowered);

}  // namespace aicf::ir
