/// Casts whose two dtypes turned out to be one when storage was chosen.
#pragma once

#include <vector>

#include "compiler/ir/lowered_edit.h"
#include "compiler/passes/pass.h"

namespace aicf {

/// True for an elementwise step that stores its one operand, in whatever dtype.
bool IsCast(const ir::LoweredStep& step);

/// Removes those of the steps `casts` that became copies, where their readers or their producers
/// can do without them, and casts of other steps that only narrow again what a cast has widened.
/// Errors: a wish for something that was refused.
Status DropCasts(ir::Lowered& lowered, const std::vector<int>& casts, PassContext& context);

}  // namespace aicf
