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
/// The steps compute what the expression says, operator by operator, with the roundings that it
/// says. One thing is the product's own: where the expression first adds one value per column, the
/// sum of products starts from that value. It is one more term of the sum, and meets its bound.
void PlanChain(const abi::Expr& expr, bool tensors_allowed, TileEpilogue* epilogue);

/// The same for sums of integers. A chain stores the sums as they are, or adds integers that vary
/// with the column alone (biases, corrections for zero points), makes the sums f32, and goes on as
/// above; it may end with a conversion to u8 or i8.
void PlanIntegerChain(const abi::Expr& expr, bool tensors_allowed, TileEpilogue* epilogue);

}  // namespace aicf::cpu
