/// The variants of the scatter family: a copy of the data with elements or rows replaced or
/// combined, in row-major order of the updates.
#pragma once

#include "kernels/abi/kernel.h"

namespace aicf::cpu {

void ScatterRef(const abi::ArgBlock& args);
/// kElements over data that are dense in any order of their axes: lines along the innermost axis.
/// Updates that cannot have the same target run in parallel.
void ScatterElements(const abi::ArgBlock& args);
/// kPoints over data that are dense in any order of their axes: rows, in the runs of elements that
/// are contiguous in both operands.
void ScatterRows(const abi::ArgBlock& args);

}  // namespace aicf::cpu
