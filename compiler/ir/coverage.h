/// Whether views, together, name every element of a buffer exactly once.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/abi/problem.h"

namespace aicf::ir {

/// REQUIRES: every view stays inside [0, count). Exact up to 2^24 elements; above, layouts that are
/// not nested tilings (no step the compiler makes) count as not covering.
bool CoverOnce(const std::vector<abi::View>& views, int64_t count);

}  // namespace aicf::ir
