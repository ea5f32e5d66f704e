/// Capturing work into a graph.
#pragma once

#include <functional>
#include <memory>

#include "base/status.h"
#include "runtime/cuda/handles.h"

namespace aicf::cuda {

/// Captures what `enqueue` puts on `stream`, instantiates it and uploads it, so that the first
/// launch costs what every launch costs. The capture is thread-local: other threads may allocate
/// meanwhile. After an error the stream is usable again. REQUIRES: the device's context is current;
/// `stream` is idle and owned by the caller.
Result<GraphExec> CaptureGraph(const std::shared_ptr<const Device>& device, CUstream stream,
                               const std::function<Status()>& enqueue);

}  // namespace aicf::cuda
