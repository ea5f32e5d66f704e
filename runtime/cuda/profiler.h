/// Time per step, measured in context.
///
/// Synchronising or recording an event between steps would lengthen what is measured: at a few
/// microseconds a step, the probe costs as much as the step. Instead the profiler captures a graph
/// of the first k steps for every k and times its replays back to back, exactly as a whole replay
/// is timed. Step k's time is T(k) - T(k-1) of medians, T(0) = 0: what the step adds to the replay,
/// its launch gap included. The sum over all steps is T(n), the replay's own time, by construction.
/// Two consequences to know when reading a profile: the first step carries the graph's fixed launch
/// latency, and a step that hides under it or under its predecessor's tail shows less than it takes
/// alone. Guarded steps always run, and the steps of a loop run once, so that one trip is timed.
/// Noise can put T(k) below T(k-1); such neighbours share their time (trace::NonDecreasing).
#pragma once

#include <memory>
#include <vector>

#include "aicf/aicf.h"
#include "base/status.h"
#include "runtime/cuda/launch.h"

namespace aicf::cuda {

/// Profiles `launches`, whose steps are numbered from `first_step`. `one_stream` says that the plan
/// has all of them on one stream. Instantiates one graph per step, one at a time. REQUIRES: the
/// device's context is current; `stream` is idle and owned by the caller.
Result<std::vector<StepProfile>> ProfileLaunches(
    const std::shared_ptr<const Device>& device, CUstream stream,
    const std::vector<std::unique_ptr<Launch>>& launches, uint32_t first_step, bool one_stream,
    int iterations);

}  // namespace aicf::cuda
