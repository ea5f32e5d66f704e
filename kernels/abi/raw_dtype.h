/// dtype of a family's raw result: what input 0 of an epilogue is, on every backend.
#pragma once

#include "kernels/abi/problem.h"

namespace aicf::abi {

/// i64 for argmin and argmax; f32 for dequantize and blockgemm; for other reductions and
/// normalisations with a prologue the dtype of its value; otherwise that of inputs[0] once loaded
/// (ComputeDType). Gemm and conv of integers below 32 bits sum their products in i32, so that u8
/// and i8 data need no widening; every integer sum wraps. REQUIRES: inputs is not empty, or the
/// problem has a prologue or is a copy.
DType RawDType(const Problem& problem);

/// Whether gemm and conv multiply operands of these dtypes: both are the same, or both are integers
/// below 32 bits.
bool CanMultiply(DType a, DType b);

}  // namespace aicf::abi
