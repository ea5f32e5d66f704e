/// Matrix products as gemm steps have them.
#pragma once

#include "base/dtype.h"
#include "compiler/passes/lower/lower.h"
#include "kernels/abi/problem.h"

namespace aicf {

/// The operands and the result of a MatMul as a gemm step has them: batches broadcast, vectors as
/// rows or columns, unit batch axes dropped; or, when B is one matrix for all batches, one large
/// product.
struct MatMulViews {
  abi::View left, right, result;

  /// A parameter as an epilogue operand; it broadcasts to [batch.., M, N].
  /// REQUIRES: with `may_fold`, a parameter that is the same in every batch and row.
  abi::View Follow(const abi::View& parameter) const;

  Dims full;  ///< [batch.., M, N]
  bool folded = false;
  Dims kept;  ///< axes of `full` that the step has, unless folded
};
/// may_fold: every epilogue parameter is the same in all batches and rows.
MatMulViews MatMulOf(const abi::View& a, const abi::View& b, const abi::View& out,
                     bool may_fold = true);

}  // namespace aicf
