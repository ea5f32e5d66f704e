/// Which values of a program are never negative, whatever its inputs are.
#pragma once

#include <vector>

#include "compiler/ir/lowered.h"

namespace aicf::quantize {

/// By buffer: proven by the last operators that make it (a ReLU, a sigmoid, a softmax, sums and
/// products of such values). False says nothing. NaN counts as not negative.
std::vector<bool> NeverNegative(const ir::Lowered& lowered);

}  // namespace aicf::quantize
