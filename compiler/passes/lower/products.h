/// Matrix products as gemm steps have them.
#pragma once

#include "base/dtype.h"
#include "compiler/passes/lower/lower.h"
#include "kernels/abi/problem.h"

namespace aicf {

/// The operands and the result of a MatMul in the form that a gemm step has: batches are broadcast,
/// vectors are rows or columns, and batch axes of one element are dropped. Where B is one matrix
/// for all batches, they are one large product (`folded`).
struct MatMulViews {
  abi::View left, right, result;

  /// A parameter of the product as an operand of the epilogue. REQUIRES: it broadcasts to
  /// [batch.., M, N]; with `may_fold`, it is the same in every batch and row.
  abi::View Follow(const abi::View& parameter) const;

  Dims full;  ///< [batch.., M, N]
  bool folded = false;
  Dims kept;  ///< axes of `full` that the step has, unless folded
};
/// may_fold: no parameter of the epilogue differs between batches or rows.
MatMulViews MatMulOf(const abi::View& a, const abi::View& b, const abi::View& out,
                     bool may_fold = true);

}  // namespace aicf
