/// Which operators of expressions turn a difference of one unit in the last place into a large one.
#pragma once

#include "kernels/abi/expr.h"

namespace aicf::abi {

/// Operators that make a step of one unit in the last place: floor(x / 49) is another number where
/// x / 49 should be whole and is not. An expression without them may be rounded otherwise.
bool IsDiscontinuous(const ExprNode& node);

}  // namespace aicf::abi
