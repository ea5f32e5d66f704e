/// StepByStep on a GPU: the launches of a session, enqueued one at a time.
#pragma once

#include <memory>

#include "runtime/cuda/driver.h"
#include "runtime/step_by_step.h"

namespace aicf::cuda {

/// Shares weights and code with the program's sessions on the device; captures nothing. `driver`
/// nullptr: the process's CUDA driver. Errors: as CreateCudaSession.
Result<std::unique_ptr<StepByStep>> CreateCudaSteps(std::shared_ptr<const Program> program,
                                                    size_t entry, int ordinal,
                                                    Driver* driver = nullptr);

}  // namespace aicf::cuda
