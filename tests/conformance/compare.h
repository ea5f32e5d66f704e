/// Judging a kernel's buffers against the reference's.
#pragma once

#include <string>
#include <vector>

#include "tests/conformance/cases.h"

namespace aicf::conformance {

using Buffers = std::vector<std::vector<std::byte>>;

/// Buffers after the reference kernel ("cpu.<family>.ref") ran on a copy of the case's.
Buffers RunReference(const Case& c);

/// Empty when every output element is within the case's tolerance (NaN equals NaN) and every other
/// byte of every buffer is as it was; otherwise one sentence about the first difference.
std::string Difference(const Case& c, const Buffers& got, const Buffers& want);

/// Element at a linear row-major index of a view, as a double. Integers above 2^53 lose bits.
double ElementAsDouble(const abi::View& view, const std::vector<std::byte>& buffer, int64_t index);

}  // namespace aicf::conformance
