/// The vector functions of one instruction set: included by *.isa.cc files only.
#pragma once

#include <cstdint>

#include "kernels/cpu/expr/block_eval.h"
#include "kernels/cpu/expr/block_plan.h"
#include "kernels/cpu/isa.h"

AICF_ISA_BEGIN

/// One operator over n elements; out has n elements and may be exactly one of the operands.
using BlockFn = void (*)(int64_t n, const BlockOperand* args, void* out);

/// nullptr where there is none: the caller falls back to EvalStepSlowly.
BlockFn FindBlockFn(const BlockStep& step);
/// The parts of FindBlockFn.
BlockFn FindArithmetic(const BlockStep& step);
BlockFn FindCast(const BlockStep& step);
BlockFn FindMath(const BlockStep& step);

/// Copies rows x cols elements at the given element strides into a dense block, widening f16 and
/// bf16 to f32 and normalising bool to 0 or 1.
void LoadBlock(const BlockInput& input, int64_t rows, int64_t cols, void* dense);
/// The inverse of LoadBlock: narrows f32 to f16 and bf16. With value.step 0, one element is
/// repeated.
void StoreBlock(const BlockOperand& value, int64_t rows, int64_t cols, const BlockOutput& output);

AICF_ISA_END
