/// The CUDA executor behind aicf::Session: one arena, one captured graph per entry point, replayed.
#pragma once

#include <memory>

#include "aicf/aicf.h"
#include "base/status.h"
#include "runtime/cuda/driver.h"

namespace aicf::cuda {

/// A session on device `ordinal`: weights and kernels (shared by the program's sessions), arena,
/// staging, and for every entry point a dry run and an instantiated graph. `driver` nullptr: the
/// process's CUDA driver. Tests pass their own. Errors: kDevice (no driver, no such device, wrong
/// architecture, a step that faults), kResource (bytes needed and free), kUnsupported (a kernel
/// this runtime cannot launch). `lanes` as CreateLanes has them (runtime/session_lanes.h).
Result<std::unique_ptr<Session>> CreateCudaSession(std::shared_ptr<const Program> program,
                                                   int ordinal, const SessionOptions& options,
                                                   Driver* driver = nullptr, size_t lanes = 1);

}  // namespace aicf::cuda
