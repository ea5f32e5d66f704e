/// The steady state of a session, measured like trtexec does.
#pragma once

#include <vector>

#include "aicf/aicf.h"
#include "base/status.h"
#include "tools/aicf-run/options.h"
#include "tools/common/stats.h"

namespace aicf::tools {

struct Measurement {
  std::vector<double> latency;  ///< ms from the call of Run until outputs are ready, in order
  std::vector<double> enqueue;  ///< ms from the call of Run until it returned; CUDA only
  std::vector<double> compute;  ///< ms of device time, measured back to back afterwards; CUDA only
  double wall_s = 0;            ///< duration of the loop that measured the latencies
};

/// Warms up, then replays until both the duration and the number of iterations are reached.
/// REQUIRES: on CUDA, a session made with SyncPolicy::kEventRecord.
Result<Measurement> Measure(Session& session, const RunOptions& options, bool on_cuda);

/// Milliseconds of a steady clock, for intervals.
double NowMs();

}  // namespace aicf::tools
