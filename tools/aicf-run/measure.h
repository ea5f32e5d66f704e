/// The steady state of a session, measured like trtexec does.
#pragma once

#include <vector>

#include "aicf/aicf.h"
#include "base/status.h"
#include "tools/aicf-run/options.h"
#include "tools/common/stats.h"

namespace aicf::tools {

struct Measurement {
  std::vector<double> latency;  ///< ms, in order: from the call of Run to outputs being ready
  std::vector<double> enqueue;  ///< ms: until Run returned; CUDA only
  std::vector<double> compute;  ///< ms of device time, measured back to back afterwards; CUDA only
  double wall_s = 0;            ///< of the latency loop
};

/// Warms up, then replays until both the duration and the number of iterations are reached.
/// REQUIRES: on CUDA, a session made with SyncPolicy::kEventRecord.
Result<Measurement> Measure(Session& session, const RunOptions& options, bool on_cuda);

/// Milliseconds of a steady clock, for intervals.
double NowMs();

}  // namespace aicf::tools
