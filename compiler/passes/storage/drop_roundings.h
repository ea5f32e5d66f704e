/// Roundings in expressions that storage does anyway.
#pragma once

#include "kernels/abi/problem.h"

namespace aicf::storage {

/// Takes out what changes no bit: the rounding of a result to the dtype that it is stored in, and,
/// of elementwise steps, the rounding of an operand to the dtype that it comes in.
void DropRoundings(abi::Problem& problem);

}  // namespace aicf::storage
