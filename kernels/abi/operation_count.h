/// How much work a step is, as a limit needs to know it: before anything is run, and whatever the
/// attributes say. (FlopCount in problem.h is for rooflines: what a step takes where it is usual.)
#pragma once

#include "kernels/abi/problem.h"

namespace aicf::abi {

/// At least as many as the elements that any kernel of the family visits, each with the operators
/// of its expressions: an upper bound but for a constant factor. Where the data decide (boxes of a
/// roi), the most that data of the feature map's size can ask for. Never overflows. REQUIRES: a
/// validated problem.
double OperationCount(const Problem& problem);

}  // namespace aicf::abi
