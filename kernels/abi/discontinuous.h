/// Which operators of expressions turn a difference of one unit in the last place into a large one.
#pragma once

#include "kernels/abi/expr.h"

namespace aicf::abi {

/// Whether the operator can turn an operand that is off by one unit in the last place into a result
/// that is far off: where x / 49 should be a whole number and is rounded to just below it,
/// floor(x / 49) is too small by 1. Only expressions without such operators may be computed with
/// other roundings than they say. The exception is a value that is rounded to a code of 8 bits,
/// which is then off by one code at most (pass fold-scales).
bool IsDiscontinuous(const ExprNode& node);

}  // namespace aicf::abi
