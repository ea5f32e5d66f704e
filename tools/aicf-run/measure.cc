#include "tools/aicf-run/measure.h"

#include <algorithm>
#include <chrono>

namespace aicf::tools {
namespace {

/// At most this many replays are timed on the device; more would tell nothing new.
constexpr size_t kMaxComputeSamples = 1000;

struct OneRun {
  double start, returned, ready;
};

// One run. Unless `keep_state` is set, the states are reset first, so that every run begins like
// the first one; that is not part of the measured time.
Result<OneRun> RunOnce(Session& session, bool keep_state) {
  if (!keep_state && !session.states().empty()) AICF_RETURN_IF_ERROR(session.ResetStates());
  OneRun run{NowMs(), 0, 0};
  AICF_RETURN_IF_ERROR(session.Run());
  run.returned = NowMs();
  AICF_RETURN_IF_ERROR(session.Wait());
  run.ready = NowMs();
  return run;
}

}  // namespace

double NowMs() {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Result<Measurement> Measure(Session& session, const RunOptions& options, bool on_cuda) {
  const double warm_until = NowMs() + options.warm_up_ms;
  while (NowMs() < warm_until) {
    AICF_ASSIGN_OR_RETURN([[maybe_unused]] const OneRun run, RunOnce(session, options.keep_state));
  }
  Measurement m;
  const double start = NowMs();
  const double end = start + options.duration_s * 1000;
  while (m.latency.size() < static_cast<size_t>(options.iterations) || NowMs() < end) {
    AICF_ASSIGN_OR_RETURN(const OneRun run, RunOnce(session, options.keep_state));
    m.latency.push_back(run.ready - run.start);
    if (on_cuda) m.enqueue.push_back(run.returned - run.start);
  }
  m.wall_s = (NowMs() - start) / 1000;
  if (on_cuda) {
    const size_t replays = std::min(m.latency.size(), kMaxComputeSamples);
    AICF_ASSIGN_OR_RETURN(m.compute, session.TimeReplays(static_cast<int>(replays)));
    for (double& time : m.compute) time /= 1000;
  }
  return m;
}

}  // namespace aicf::tools
