/// Which runs of steps are worth starting long before the steps in front of them have run.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/passes/plan/side_runs.h"

namespace aicf {

/// Steps [start, end), which need nothing of the steps [host, start), but the step before `start`
/// among them. They are to begin when the steps before `host` have ended, beside the steps from
/// `host` on, on a stream of their own.
struct EarlyRun {
  uint32_t start = 0, end = 0;
  uint32_t host = 0;
  uint32_t stream = 0;  ///< on which no step of [host, start) is
  double saves_us = 0;  ///< what it saves, before its cost
};

/// Early runs beside single steps, or beside a group of runs that are beside each other already. A
/// host leaves multiprocessors idle: none of its launches has more blocks than rules.room, and it
/// and the run need no more multiprocessors at once (StepLoad::multiprocessors). One of its steps
/// takes rules.long_us: a chain of shorter ones is mostly their starts, behind which nothing hides.
/// Each run saves more than rules.cost_us. Of several hosts the one that saves the most is taken,
/// of equals the first, and each hosts one run. A step that may not begin early (StepLoad::stays)
/// is in no run. From the host to the step that waits for the run, or the end, steps have no more
/// accesses than kMostEarlyAccesses, because the verifier compares those that may happen at the
/// same time. REQUIRES: `groups` are those of FindSideRuns for the same steps. Deterministic. Cost:
/// O(steps * kMostEarlyAccesses).
std::vector<EarlyRun> FindEarlyRuns(const std::vector<StepLoad>& steps,
                                    std::span<const SideRuns> groups, const SideRules& rules);

/// Accesses (StepLoad::accesses) of neighbouring steps that run beside each other because of early
/// runs, at most; and the most such stretches of that size. In a model's layer a step has 3 to 6.
inline constexpr uint64_t kMostEarlyAccesses = 256, kMostEarlyStretches = 64;

}  // namespace aicf
