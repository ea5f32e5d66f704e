/// dtype of a family's raw result: what input 0 of an epilogue is, on every backend.
#pragma once

#include "kernels/abi/problem.h"

namespace aicf::abi {

/// Argmin and argmax give i64; reduce and normalize the dtype of their element (the prologue's
/// value, or inputs[0]); the other families that of inputs[0]. The products of gemm and conv of
/// integers below 32 bits sum in i32, so that u8 and i8 data need no widening; every integer sum
/// wraps. REQUIRES: inputs is not empty, or the problem has a prologue or is a copy.
DType RawDType(const Problem& problem);

/// True for operands that gemm and conv multiply: the same dtype, or any two integers below 32
/// bits.
bool CanMultiply(DType a, DType b);

}  // namespace aicf::abi
