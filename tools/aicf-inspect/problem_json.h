/// A step's problem as data for the report: attributes with their names, operands, expressions.
#pragma once

#include "kernels/abi/problem.h"
#include "tools/common/decisions.h"

namespace aicf::tools {

/// {"family", "math", "core", "attrs": [[name, text]...], "in", "out": [[dtype, shape, strides,
/// offset]...], "pro", "epi": {"nodes": [[op, immediate or argument...]...], "results"}}.
/// Attributes that say "no" are left out, and so is an expression that is the identity.
Json ProblemJson(const abi::Problem& problem);

}  // namespace aicf::tools
