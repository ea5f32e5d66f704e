/// An upper bound of a step's work, for limits on what an artifact may ask for: it is known before
/// anything is run and holds for any attributes. (FlopCount in problem.h is for rooflines and
/// estimates the work of usual steps.)
#pragma once

#include "kernels/abi/problem.h"

namespace aicf::abi {

/// At least the number of elements that any kernel of the family visits, each with the operators of
/// its expressions; an upper bound of the work up to a constant factor. Where the data decide (the
/// boxes of a roi step), it counts the most that boxes of the feature map's size can ask for. Never
/// overflows. REQUIRES: a validated problem.
double OperationCount(const Problem& problem);

}  // namespace aicf::abi
