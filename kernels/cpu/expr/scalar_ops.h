/// Operators on single values, apart from the walk over an expression (scalar_eval.cc).
#pragma once

#include <cstdint>

#include "kernels/abi/expr.h"

namespace aicf::cpu {

/// Float operators, computed in double and not yet rounded to f32. `single` says that the node is
/// f32: rsqrt then rounds its square root to f32, and fma rounds once to f32.
double FloatUnary(abi::ExprOp op, double a, bool single);
double FloatBinary(abi::ExprOp op, double a, double b);
double FloatFma(double a, double b, double c, bool single);

/// Wraps to the width of `dtype` and extends again; bool becomes 0 or 1.
int64_t WrapInteger(int64_t value, DType dtype);
int64_t IntegerUnary(abi::ExprOp op, int64_t a, DType dtype);
int64_t IntegerBinary(abi::ExprOp op, int64_t a, int64_t b, DType dtype);

}  // namespace aicf::cpu
