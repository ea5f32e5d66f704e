/// Sizes of a lowered program that nothing can be computed with.
#pragma once

#include "base/status.h"
#include "compiler/ir/lowered.h"

namespace aicf::ir {

/// schema::CheckMagnitudes of every step, before any pass or kernel computes with its shapes, and
/// whether the bytes of every buffer, read or not, can be counted.
/// Errors: kResource naming the step or the buffer.
Status CheckMagnitudes(const Lowered& lowered);

}  // namespace aicf::ir
