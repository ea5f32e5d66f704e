/// Operands to time kernels on: pseudo-random, and such as a model would have, so that no kernel
/// takes a shortcut or a detour: indices in range, booleans 0 or 1, boxes inside the picture,
/// numbers that are neither denormal nor infinite.
#pragma once

#include <cstddef>
#include <vector>

#include "kernels/abi/problem.h"

namespace aicf::tune {

/// Bytes of a buffer that the view lies in. REQUIRES: a validated view.
uint64_t BufferBytes(const abi::View& view);

/// A whole buffer for inputs[input]; equal arguments give equal bytes.
std::vector<std::byte> BenchData(const abi::Problem& problem, int input);

}  // namespace aicf::tune
