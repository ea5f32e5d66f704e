/// Casts whose two dtypes turned out to be one when storage was chosen.
#pragma once

#include <vector>

#include "compiler/ir/lowered_edit.h"
#include "compiler/passes/pass.h"

namespace aicf {

/// True for an elementwise step that stores its one operand, in whatever dtype.
bool IsCast(const ir::LoweredStep& step);

/// `casts` lists steps that were casts and became plain copies. Removes those that their readers or
/// their producers can do without. Other casts that only narrow again what a cast has widened read
/// the operand of that cast instead. They are then removed likewise, unless they change the order
/// of the axes.
/// Errors: a wish for something that was refused.
Status DropCasts(ir::Lowered& lowered, const std::vector<int>& casts, PassContext& context);

}  // namespace aicf
