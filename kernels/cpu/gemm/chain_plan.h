/// Recognises epilogues that are a chain of steps on one value. They run in registers instead of
/// through the block evaluator (kernels/cpu/expr/block_eval.h).
#pragma once

#include "kernels/abi/expr.h"
#include "kernels/cpu/gemm/igemm.h"

namespace aicf::cpu {

/// Fills is_chain, is_direct, bias_input, steps and column_inputs of an epilogue whose operands
/// (inputs, outputs) are filled already. `expr` may be empty: a chain without steps. An expression
/// that is no chain leaves is_chain false. tensors_allowed: operands that vary with rows may be
/// addressed as one tile (false when columns are in several pieces).
/// The steps compute what the expression says, operator by operator and with its roundings, with
/// one exception: where the expression first adds one value per column, the sum of products starts
/// from that value. The value is then one more term of the sum, whose error bound still holds.
void PlanChain(const abi::Expr& expr, bool tensors_allowed, TileEpilogue* epilogue);

/// The same for sums of integers. A chain stores the sums as they are, or adds integers that vary
/// with the column alone (biases, corrections for zero points), makes the sums f32, and goes on as
/// above; it may end with a conversion to u8 or i8.
void PlanIntegerChain(const abi::Expr& expr, bool tensors_allowed, TileEpilogue* epilogue);

}  // namespace aicf::cpu
