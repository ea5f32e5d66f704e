/// How products are formed in a lowered step.
#pragma once

#include "base/dtype.h"
#include "compiler/passes/lower/lower.h"
#include "kernels/abi/problem.h"

namespace aicf {

/// The mode that the compile options ask for, where it has a meaning for the operands' dtype.
abi::MathMode ProductMath(LowerContext& ctx, DType dtype);

}  // namespace aicf
