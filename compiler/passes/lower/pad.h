/// Padding as part of another op's lowering.
#pragma once

#include "compiler/passes/lower/lower.h"

namespace aicf {

/// data [N, C, spatial..] with `begin` and `end` elements more along each spatial axis, all equal
/// to the scalar `value`, in a new channels-last buffer. One copy step, recorded as a decision.
ValueView PaddedChannelsLast(LowerContext& ctx, const ir::Node& node, ir::ValueId data,
                             const Dims& begin, const Dims& end, ir::ValueId value);

}  // namespace aicf
