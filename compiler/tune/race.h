/// How the kernels of one problem are compared: round by round, so that a drift of the clock or of
/// a neighbour's load hits all alike; hopeless ones leave early, close ones get more rounds.
///
/// Pure strategy: time and kernels are the caller's, so tests run it on a simulated machine.
#pragma once

#include <functional>
#include <vector>

#include "base/status.h"

namespace aicf::tune {

struct RaceRules {
  int least_rounds = 3;  ///< fewer samples are no measurement
  int rounds = 15;
  int most_rounds = 45;  ///< while the best two are within `close` of each other
  double close = 0.05;
  /// A runner is hopeless when even its lower end (median - spread) is beyond this factor times the
  /// best one's upper end (median + spread). Until there are five samples of the runner, the factor
  /// is `doubtful`.
  double hopeless = 1.1, doubtful = 1.5;
};

struct Runner {
  /// A library's kernel, measured for comparison: the others do not leave because of it, and it
  /// does not leave because of them.
  bool beside = false;
};

struct Lap {
  double median_us = 0;
  double spread_us = 0;
  int count = 0;      ///< 0: nothing is known
  bool left = false;  ///< was hopeless
};

struct RaceResult {
  std::vector<Lap> laps;  ///< by runner
  bool complete = false;  ///< false: time ran out first; then every lap has at least the least
                          ///< rounds, or all have a count of 0
};

/// Runs the race. `sample(r)` gives runner r's microseconds, once; `out_of_time()` is asked before
/// every sample. With two or more that are not beside, the best and the second-best are known when
/// the race is complete. Errors: the first of `sample`.
Result<RaceResult> Race(const std::vector<Runner>& runners, const RaceRules& rules,
                        const std::function<Result<double>(size_t)>& sample,
                        const std::function<bool()>& out_of_time);

/// Indices of the kernels worth measuring, in order: those predicted at most `kPruneFactor` times
/// the best plus `kPruneUs`; never fewer than two where there are two (a second opinion on every
/// prediction). The factor is generous because a prediction that is wrong by it is a defect of the
/// prediction, which measuring would only hide.
inline constexpr double kPruneFactor = 6;
inline constexpr double kPruneUs = 5;
std::vector<size_t> WorthMeasuring(const std::vector<double>& predicted_us);

}  // namespace aicf::tune
