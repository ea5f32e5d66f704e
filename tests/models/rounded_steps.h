/// A device that rounds the operands of products to their step's math mode (tf32, fp16) and
/// otherwise consists of the reference kernels. It shows how much accuracy the mode costs without a
/// GPU.
#pragma once

#include <memory>
#include <vector>

#include "runtime/step_by_step.h"
#include "schema/program.h"

namespace aicf::testing {

/// Executes entry point 0 of a CUDA plan. Before each gemm and conv whose mode is not fp32, its f32
/// operands in the arena are rounded, and restored afterwards. The weights in `program` must
/// already be rounded (RoundWeights).
Result<std::unique_ptr<StepByStep>> MakeRoundedSteps(std::shared_ptr<const Program> program);

/// Rounds the f32 constants that gemm and conv multiply. Errors: kUnsupported where two steps need
/// different roundings of one constant.
Status RoundWeights(const schema::Program& program, std::vector<std::byte>& weights);

}  // namespace aicf::testing
