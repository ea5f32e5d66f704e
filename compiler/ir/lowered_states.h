/// The rules of states in a lowered program that need no order of its steps.
#pragma once

#include "base/status.h"
#include "compiler/ir/lowered.h"

namespace aicf::ir {

/// Every state is a pair of buffers of one dtype and shape, an input and an output or both of role
/// kState; no buffer is in two, and none has role kState outside of one. Errors: kInternal.
Status CheckStates(const Lowered& lowered);

}  // namespace aicf::ir
