/// The exact, slow evaluation of expressions: one point at a time, through double libm. Reference
/// kernels of every family use it, and the vector evaluation is tested against it.
///
/// Where expr_ops.def leaves a choice, this is what holds on every backend:
///   - an f32 node is the exact result rounded to f32; integers wrap modulo 2^bits;
///   - cast: float to integer truncates, saturates at the ends of the range, NaN gives 0;
///     integer to integer wraps; anything to bool is "not equal to zero";
///   - min, max and sign give NaN for NaN; sign(0) = 0; INT_MIN / -1 = INT_MIN;
///   - integer pow wraps; a negative exponent gives the truncated reciprocal (0 for 0);
///   - a shift by the width or more gives 0 (-1 for a negative signed value shifted right).
#pragma once

#include <cstdint>

#include "base/dtype.h"
#include "kernels/abi/expr.h"

namespace aicf::cpu {

/// A value of a compute dtype: f for f32 (always exactly an f32 value) and f64; i for integers and
/// bool, sign- or zero-extended (u64 as its bits).
struct Scalar {
  union {
    double f;
    int64_t i;
  };
};

inline Scalar FloatScalar(double value) {
  Scalar s;
  s.f = value;
  return s;
}
inline Scalar IntScalar(int64_t value) {
  Scalar s;
  s.i = value;
  return s;
}

/// A real number converted to dtype `to`: f32 rounds, integers truncate and saturate.
Scalar ScalarFromDouble(double value, DType to);
/// REQUIRES: dtype is a compute dtype (not f16, bf16). u64 above 2^53 rounds.
double ScalarToDouble(Scalar value, DType dtype);
/// ExprOp::kCast between compute dtypes.
Scalar CastScalar(Scalar value, DType from, DType to);

/// Loads the element at `address`; f16 and bf16 are widened: the result has ComputeDType(storage).
Scalar LoadScalar(const void* address, DType storage);
/// Stores a value of ComputeDType(storage), rounding to f16 or bf16.
void StoreScalar(void* address, DType storage, Scalar value);

/// One operator applied to its arguments; `operand` is the dtype of the first. Unused arguments are
/// ignored. REQUIRES: node.op has arguments (arity > 0).
Scalar EvalOperator(const abi::ExprNode& node, DType operand, Scalar a, Scalar b, Scalar c);
/// Value of a kConst node.
Scalar ConstantOf(const abi::ExprNode& node);

/// Evaluates a valid, non-empty expression at one point. inputs[k] has the dtype of the nodes that
/// read input k; coords are the domain coordinates (used by kIndex only); results[r] has the dtype
/// of node expr.results[r]. Allocates nothing.
void EvalScalar(const abi::Expr& expr, const Scalar* inputs, const int64_t* coords,
                Scalar* results);

}  // namespace aicf::cpu
