/// Recognises epilogues that are a chain of steps on one value, which run in registers instead of
/// through the block evaluator.
#pragma once

#include "kernels/abi/expr.h"
#include "kernels/cpu/gemm/igemm.h"

namespace aicf::cpu {

/// Fills is_chain, is_direct, bias_input, steps and column_inputs of an epilogue whose operands
/// (inputs, outputs) are filled already. `expr` may be empty: a chain without steps. An expression
/// that is no chain leaves is_chain false. tensors_allowed: operands that vary with rows may be
/// addressed as one tile (false when columns are in several pieces).
/// Linear steps that follow one another are merged, so results may differ in the last place from
/// the expression evaluated operator by operator.
void PlanChain(const abi::Expr& expr, bool tensors_allowed, TileEpilogue* epilogue);

}  // namespace aicf::cpu
