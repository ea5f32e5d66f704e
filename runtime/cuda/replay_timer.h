/// Device time of consecutive replays.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/status.h"
#include "runtime/cuda/handles.h"

namespace aicf::cuda {

/// Calls `replay` (which enqueues one replay on `stream`) `iterations` times back to back with an
/// event between consecutive ones, and gives the microseconds from event to event. Consecutive
/// replays share an event, so the samples add up to the whole time. They include the gaps between
/// launches, but no waiting for the host between replays, as long as a replay takes longer than its
/// launch.
/// REQUIRES: the device's context is current.
Result<std::vector<double>> TimeBackToBack(const std::shared_ptr<const Device>& device,
                                           CUstream stream, int iterations,
                                           const std::function<Status()>& replay);

}  // namespace aicf::cuda
