/// The epilogue of a step as its own pass over a raw result that lies in memory.
#pragma once

#include "kernels/abi/kernel.h"
#include "kernels/cpu/expr/block_eval.h"

namespace aicf::cpu {

/// Evaluates `expr` (the identity when empty) over the shape of the outputs, in blocks, on the
/// caller's threads. inputs[k] is the expression's input k; each has the shape of the outputs.
void EvalTensors(const abi::ArgBlock& args, EvalBlockFn eval, const abi::Expr& expr,
                 const abi::TensorArg* const* inputs, int input_count);

/// Applies args.problem->epilogue: raw, then the epilogue operands, to the outputs.
void EvalEpilogue(const abi::ArgBlock& args, EvalBlockFn eval, const abi::TensorArg& raw);

/// True when the raw result can be written straight to the output: no epilogue, same dtype.
bool RawIsOutput(const abi::Problem& problem);

/// The identity as an expression: one node, input 0 of this compute dtype.
const abi::Expr& IdentityExpr(DType dtype);

}  // namespace aicf::cpu
