/// The loops of a lowered program: which step is in which, and where each begins and ends.
#pragma once

#include <vector>

#include "base/status.h"
#include "compiler/ir/lowered.h"
#include "schema/loop_tree.h"

namespace aicf::ir {

/// The loops as ranges of positions of steps, in the order of their first steps and outer ones
/// first, as a plan holds them. Errors: kInternal for a step in a loop that does not exist, and for
/// a loop without steps or with steps of others between its own.
Result<std::vector<schema::Loop>> LoopRanges(const Lowered& lowered);

/// The loops as a tree. Errors: as above; those of schema::LoopTree::Build.
Result<schema::LoopTree> LoopsOf(const Lowered& lowered);

}  // namespace aicf::ir
