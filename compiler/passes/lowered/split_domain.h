/// The same step over another shape of its domain: axes split into several, element by element the
/// same work.
#pragma once

#include <optional>

#include "compiler/ir/lowered.h"

namespace aicf {

/// An elementwise step, or a normalisation along its last axes, whose operands are all viewed as
/// `shape`: the same elements in row-major order. nullopt for other steps, where an operand's
/// strides do not express it, where an axis that is normalised would be split, and where an
/// expression uses coordinates.
std::optional<ir::LoweredStep> OverShape(const ir::LoweredStep& step, const Dims& shape);

}  // namespace aicf
