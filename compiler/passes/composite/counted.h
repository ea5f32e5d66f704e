/// What expansions with data-dependent extents share.
#pragma once

#include "compiler/ir/dynamic_extent.h"
#include "compiler/passes/composite/composer.h"

namespace aicf {

/// Says of v that only the first `count` positions along the axis hold data. Where the count is
/// constant, v is cut to them instead. count: i64 of one element.
ir::ValueId Counted(Composer& c, ir::ValueId v, int axis, ir::ValueId count);

/// The chosen elements of a flag vector, brought to the front.
struct Chosen {
  ir::ValueId slot;   ///< i64 [n]: the place of each chosen element among them; n for the others
  ir::ValueId count;  ///< i64 [1]
};
/// flags: bool [n], n > 0.
Chosen Choose(Composer& c, ir::ValueId flags);

/// i64 [n]: the positions of the chosen elements, in order; 0 after them.
ir::ValueId ChosenPositions(Composer& c, const Chosen& chosen);

/// Expand Shape and Size of a counted value, whose result is known only when the program runs. They
/// replace the node.
Status ExpandCountedShape(Composer& c, const ir::DynamicExtent& extent);
Status ExpandCountedSize(Composer& c, const ir::DynamicExtent& extent);

}  // namespace aicf
