/// Elementwise steps that convert, clamp and divide. Device code has short forms for these, because
/// a GPU has instructions for them (compiler/codegen/expr_forms.h); the short forms must be exact.
#pragma once

#include <vector>

#include "tests/conformance/cases.h"

namespace aicf::conformance {

/// Conversions between every storage type of up to 8 bits and f32 or its compute type, of all codes
/// and of the floats between and beside their values; f32, and its quotients by constants, rounded
/// and saturated to integers of 8 and 16 bits, with and without a zero point; the numbers that all
/// codes stand for; and codes that are made of the numbers of other codes.
std::vector<Case> ConversionCases();

}  // namespace aicf::conformance
