/// The rules of loops in a lowered program that depend on the order of its steps.
#pragma once

#include "base/status.h"
#include "compiler/ir/lowered.h"
#include "schema/loop_tree.h"

namespace aicf::ir {

/// A carried buffer is whole before it is read or changed, and stays inside the loops in which its
/// first write stands; a loop's condition is whole before the loop, which writes it; what a loop
/// writes is used inside. REQUIRES: buffers and views in range; `loops` is LoopsOf(lowered).
/// Errors: kInternal.
Status CheckCarried(const Lowered& lowered, const schema::LoopTree& loops);

}  // namespace aicf::ir
