/// StepByStep on the CPU: a step table over an arena of its own.
#pragma once

#include <memory>
#include <span>

#include "runtime/step_by_step.h"

namespace aicf {

/// The kernels that a CPU session of this program runs. Errors: as CreateCpuSession.
Result<std::unique_ptr<StepByStep>> CreateCpuSteps(std::shared_ptr<const Program> program,
                                                   size_t entry, int threads);

/// Reference kernels throughout; needs no instruction set. Errors: as MakeReferenceSteps.
Result<std::unique_ptr<StepByStep>> CreateReferenceSteps(std::shared_ptr<const Program> program,
                                                         size_t entry, int threads,
                                                         std::span<const UnpackedInput> unpacked);

}  // namespace aicf
