/// Results that are infinite only because of the 16-bit dtype that they are stored in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/abi/problem.h"

namespace aicf::tools {

/// The number of infinite elements in a dense array of a 16-bit float dtype; 0 for any other dtype.
int64_t Infinities(DType dtype, std::span<const std::byte> elements);

/// Whether every element of the view is a finite number; true for dtypes that are no floats.
/// `buffer` holds the bytes that the view refers to. Cost: linear in the view.
bool AllFinite(const abi::View& view, std::span<const std::byte> buffer);

/// Whether one of the step's expressions has an infinite constant. Infinite results may then be
/// intended.
bool NamesInfinity(const abi::Problem& problem);

}  // namespace aicf::tools
