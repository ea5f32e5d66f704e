/// Elementwise steps that convert, clamp and divide, for which a GPU has instructions and device
/// code has short forms (compiler/codegen/expr_forms.h): they are exact.
#pragma once

#include <vector>

#include "tests/conformance/cases.h"

namespace aicf::conformance {

/// Every storage type of 8 bits and below from and to f32, or its compute type: all codes, and the
/// floats between and beside them; f32, and its quotients by constants, rounded and saturated to
/// integers of 8 and 16 bits with a zero point and without; the numbers of all codes, and codes made
/// of the numbers of codes.
std::vector<Case> ConversionCases();

}  // namespace aicf::conformance
