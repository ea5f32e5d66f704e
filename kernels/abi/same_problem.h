/// Equality of problems, for code that examines only one of several equal steps.
#pragma once

#include "kernels/abi/problem.h"

namespace aicf::abi {

/// Whether two problems agree in every field, reals bit by bit. Whatever follows from one of them
/// then follows from the other; their texts are equal, too. Cost: less than validating one.
bool SameProblem(const Problem& a, const Problem& b);

}  // namespace aicf::abi
