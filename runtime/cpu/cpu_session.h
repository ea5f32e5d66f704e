/// The CPU executor behind aicf::Session: a loop over prepared steps.
#pragma once

#include <memory>

#include "aicf/aicf.h"
#include "base/status.h"
#include "kernels/abi/kernel.h"

namespace aicf {

/// Allocates the arena, prepares every step and starts the worker threads.
/// Runs CPU artifacts on their own kernels and CUDA artifacts on the reference kernels (StepTable).
/// Errors: kDevice when the artifact needs an instruction set this machine lacks, naming both;
/// kResource for memory or threads; kInvalidArgument for a negative thread count.
Result<std::unique_ptr<Session>> CreateCpuSession(std::shared_ptr<const Program> program,
                                                  const SessionOptions& options);

/// Checks that the machine has the instruction set that the artifact is compiled for: without it a
/// run would die of an illegal instruction. A CUDA target is fine: its steps run on the reference
/// kernels. Errors: kDevice, naming both and what to compile for.
Status CheckInstructionSet(const abi::DeviceSpec& target, abi::CpuIsa machine);

}  // namespace aicf
