/// Which f32 values lose too much in 16 bits, by rule: a value is sensitive because of the step
/// that makes it (sums, exponentials: values of any size) or of one that reads it (positions,
/// ranks, whole numbers: results that jump).
#pragma once

#include <string>

#include "kernels/abi/problem.h"

namespace aicf::storage {

/// Whether the step is a product of float8 codes, whose scales may come after its sums.
bool MultipliesFloat8(const abi::Problem& problem);

/// Empty, or why result `output` of the step is stored in f32: "a sum has no bound".
std::string SensitiveResult(const abi::Problem& problem, int output);

/// Empty, or why the step reads operand `input` in f32.
std::string SensitiveOperand(const abi::Problem& problem, int input);

}  // namespace aicf::storage
