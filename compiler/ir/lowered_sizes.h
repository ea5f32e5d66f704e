/// Sizes of a lowered program that nothing can be computed with.
#pragma once

#include "base/status.h"
#include "compiler/ir/lowered.h"

namespace aicf::ir {

/// Refuses sizes before any pass or kernel computes with them: by schema::CheckMagnitudes for every
/// step, and for every buffer, read or not, by whether its bytes can be counted. Errors: kResource
/// naming the step or the buffer.
Status CheckMagnitudes(const Lowered& lowered);

}  // namespace aicf::ir
