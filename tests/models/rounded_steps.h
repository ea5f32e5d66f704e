/// A device that forms products of operands rounded to f16, made of the reference kernels: what the
/// math mode fp16 costs, without a GPU.
#pragma once

#include <memory>
#include <vector>

#include "runtime/step_by_step.h"
#include "schema/program.h"

namespace aicf::testing {

/// Executes entry point 0 of a CUDA plan. Before each gemm and conv its f32 operands in the arena
/// are rounded to f16, and put back afterwards; weights are rounded in `program` already
/// (RoundWeights).
Result<std::unique_ptr<StepByStep>> MakeRoundedSteps(std::shared_ptr<const Program> program);

/// Rounds the f32 constants that gemm and conv multiply.
void RoundWeights(const schema::Program& program, std::vector<std::byte>& weights);

}  // namespace aicf::testing
