/// Which runs of consecutive steps are worth running beside each other.
#pragma once

#include <cstdint>
#include <vector>

namespace aicf {

/// What the search knows about a step.
struct StepLoad {
  double us = 0;                     ///< predicted or measured
  int64_t blocks = 0;                ///< of its launch; 0: unknown, so that nothing runs beside it
  std::vector<uint32_t> needs = {};  ///< earlier steps, ascending

  // For FindEarlyRuns alone.
  /// As few multiprocessors as hold all blocks at the same time; 0: unknown.
  int64_t multiprocessors = 0;
  bool stays = false;     ///< it is not to run earlier than where it stands
  uint32_t accesses = 1;  ///< operands and results, at least 1
};

/// Runs that lie next to each other in the program, none of which needs another one: run i is the
/// steps [starts[i], starts[i + 1]), the last one ends at `end`.
struct SideRuns {
  std::vector<uint32_t> starts;
  uint32_t end = 0;
  double saves_us = 0;  ///< what running them beside each other saves, before its cost

  /// One after the last step of run `r`.
  uint32_t EndOf(size_t r) const { return r + 1 < starts.size() ? starts[r + 1] : end; }
};

/// When runs may lie beside each other.
struct SideRules {
  int64_t room = 0;      ///< blocks that the largest launches of all runs have together, at most
  uint32_t streams = 1;  ///< runs of a group, at most
  double cost_us = 0;    ///< each run after the first one saves more
  /// One of the first two runs has to have a step that takes this long. Shorter steps spend most of
  /// their time starting, and kernels on several streams start no faster than kernels on one.
  double long_us = 0;
};

/// Greedy from the first step on, each step in at most one group. Deterministic. Cost: O(steps *
/// kLongestRun^2 * needs).
std::vector<SideRuns> FindSideRuns(const std::vector<StepLoad>& steps, const SideRules& rules);

inline constexpr uint32_t kLongestRun = 64;  ///< steps

}  // namespace aicf
