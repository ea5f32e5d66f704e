/// The rules of loops in a lowered program that depend on the order of its steps.
#pragma once

#include "base/status.h"
#include "compiler/ir/lowered.h"
#include "schema/loop_tree.h"

namespace aicf::ir {

/// A carried buffer is written in full before it is read or changed, and is used only in the loop
/// of its first write and the loops inside it. The condition of a loop is written in full before
/// the loop, which writes it as well. What a loop writes is used inside it only. REQUIRES: buffers
/// and views in range; `loops` is LoopsOf(lowered). Errors: kInternal.
Status CheckCarried(const Lowered& lowered, const schema::LoopTree& loops);

}  // namespace aicf::ir
