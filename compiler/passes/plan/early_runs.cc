#include "compiler/passes/plan/early_runs.h"

#include <algorithm>
#include <optional>

namespace aicf {
namespace {

constexpr uint32_t kNone = ~0u;

// A run, and the first step beside which it may begin.
struct Run {
  uint32_t start = 0, end = 0;
  uint32_t earliest = 0;
  double us = 0;
  int64_t multiprocessors = 0;  // of its largest launch
};

// Neighbouring steps [begin, end) of which some run at the same time: an early run, its host, and
// all steps up to the one that waits for the run.
struct EarlyStretch {
  uint32_t begin = 0, end = 0;
};

struct RunHost {
  uint32_t end = 0;
  uint32_t streams = 1;
  double us = 0, longest_us = 0;
  int64_t multiprocessors = 0;
};

class EarlySearch {
 public:
  EarlySearch(const std::vector<StepLoad>& steps, std::span<const SideRuns> groups,
              const SideRules& rules)
      : steps_(steps), groups_(groups), rules_(rules) {
    group_of_.assign(steps.size(), kNone);
    hosts_run_.assign(steps.size(), false);
    stream_of_.assign(steps.size(), 0);
    accesses_.assign(steps.size() + 1, 0);
    for (size_t s = 0; s < steps.size(); ++s) accesses_[s + 1] = accesses_[s] + steps[s].accesses;
    for (uint32_t g = 0; g < groups.size(); ++g) {
      const SideRuns& group = groups[g];
      std::fill(group_of_.begin() + group.starts[0], group_of_.begin() + group.end, g);
      for (uint32_t r = 0; r < group.starts.size(); ++r) {
        std::fill(stream_of_.begin() + group.starts[r], stream_of_.begin() + group.EndOf(r), r);
      }
    }
  }

  std::vector<EarlyRun> Find() {
    std::vector<EarlyRun> found;
    for (uint32_t s = 1; s < steps_.size(); ++s) {
      std::optional<EarlyRun> best;
      for (const Run& run : From(s)) {
        const std::optional<EarlyRun> made = BestOf(run);
        if (made && (!best || made->saves_us > best->saves_us)) best = made;
      }
      if (!best) continue;
      Claim(*best, *JoinOf({best->start, best->end}));
      found.push_back(*best);
      s = best->end - 1;
    }
    return found;
  }

 private:
  bool Runs(const StepLoad& step) const { return step.blocks > 0 && step.multiprocessors > 0; }

  // One after the last of the step's needs that are before `start`.
  uint32_t EarliestOf(const StepLoad& step, uint32_t start) const {
    const auto past = std::ranges::lower_bound(step.needs, start);
    return past == step.needs.begin() ? 0 : *(past - 1) + 1;
  }

  // The runs that begin with step `start`. A run goes on with steps that need it. Where a step also
  // needs something later than the run does so far, there is a run that ends before it, and one
  // that begins later.
  std::vector<Run> From(uint32_t start) const {
    std::vector<Run> runs;
    Run run{start, start};
    while (run.end < steps_.size() && run.end - start < kLongestRun) {
      const StepLoad& step = steps_[run.end];
      const uint32_t earliest = std::max(run.earliest, EarliestOf(step, start));
      const bool follows = !step.needs.empty() && step.needs.back() >= start;
      if (earliest >= start || !Runs(step) || step.stays || group_of_[run.end] != kNone) break;
      if (run.end > start && !follows) break;
      if (run.end > start && earliest > run.earliest) runs.push_back(run);
      run.earliest = earliest;
      run.us += step.us;
      run.multiprocessors = std::max(run.multiprocessors, step.multiprocessors);
      ++run.end;
    }
    if (run.end > start) runs.push_back(run);
    return runs;
  }

  // Adds steps of `group` (kNone: of no group) from [first, end) to a host, one after the other,
  // until they take `enough_us`. False where the first one has no room for the run.
  bool Extend(RunHost& host, uint32_t first, uint32_t end, uint32_t group, double enough_us,
              int64_t room) const {
    double us = 0;
    int64_t taken = 0;
    uint32_t s = first;
    for (; s < end && us < enough_us; ++s) {
      const StepLoad& step = steps_[s];
      if (group_of_[s] != group || hosts_run_[s]) break;
      if (!Runs(step) || step.blocks > rules_.room) break;
      if (step.multiprocessors > room - host.multiprocessors) break;
      taken = std::max(taken, step.multiprocessors);
      us += step.us;
      host.longest_us = std::max(host.longest_us, step.us);
    }
    host.end = s;
    host.us = std::max(host.us, us);
    host.multiprocessors += taken;
    return s > first;
  }

  // What runs from step `at` on and has room for the run beside it.
  std::optional<RunHost> HostAt(uint32_t at, const Run& run) const {
    const int64_t room = rules_.room - run.multiprocessors;
    const uint32_t of = group_of_[at];
    RunHost host;
    if (of == kNone) {
      if (!Extend(host, at, run.start, kNone, run.us, room)) return std::nullopt;
      return host;
    }
    const SideRuns& group = groups_[of];
    if (at != group.starts[0] || group.end > run.start) return std::nullopt;
    host.streams = static_cast<uint32_t>(group.starts.size());
    for (size_t r = 0; r < group.starts.size(); ++r) {
      const uint32_t end = group.EndOf(r);
      constexpr double kAll = 1e30;
      if (!Extend(host, group.starts[r], end, of, kAll, room) || host.end != end)
        return std::nullopt;
    }
    return host;
  }

  uint64_t Accesses(const EarlyStretch& s) const { return accesses_[s.end] - accesses_[s.begin]; }

  // The first step that needs the run, or the end; nullopt where it is too far away.
  std::optional<uint32_t> JoinOf(const Run& run) const {
    uint32_t join = run.end;
    for (; join < steps_.size(); ++join) {
      if (Accesses({run.start, join}) > kMostEarlyAccesses) return std::nullopt;
      const std::vector<uint32_t>& needs = steps_[join].needs;
      const auto at = std::ranges::lower_bound(needs, run.start);
      if (at != needs.end() && *at < run.end) break;
    }
    return join;
  }

  // The stretch together with those that it overlaps or touches. They have been found in the order
  // of their runs, so these are the last ones; `first` becomes the index of the first of them.
  EarlyStretch Joined(EarlyStretch stretch, size_t* first) const {
    *first = stretches_.size();
    while (*first > 0 && stretches_[*first - 1].end >= stretch.begin) {
      const EarlyStretch& other = stretches_[--*first];
      stretch = {std::min(stretch.begin, other.begin), std::max(stretch.end, other.end)};
    }
    return stretch;
  }

  // The square of a stretch's accesses is about what its verification costs.
  uint64_t CostOf(const EarlyStretch& s) const { return Accesses(s) * Accesses(s); }

  bool CanBeVerified(const EarlyStretch& own) const {
    constexpr uint64_t kMost = kMostEarlyStretches * kMostEarlyAccesses * kMostEarlyAccesses;
    size_t first = 0;
    const EarlyStretch joined = Joined(own, &first);
    return Accesses(joined) <= kMostEarlyAccesses && cost_ + CostOf(joined) <= kMost;
  }

  // The first stream from `least` on that no step of [first, end) is on; rules_.streams: none.
  uint32_t FreeStream(uint32_t least, uint32_t first, uint32_t end) const {
    uint32_t stream = least;
    while (stream < rules_.streams &&
           std::find(stream_of_.begin() + first, stream_of_.begin() + end, stream) !=
               stream_of_.begin() + end) {
      ++stream;
    }
    return stream;
  }

  std::optional<EarlyRun> BestOf(const Run& run) const {
    std::optional<EarlyRun> best;
    if (run.us <= rules_.cost_us) return best;
    const std::optional<uint32_t> join = JoinOf(run);
    if (!join) return best;
    for (uint32_t at = run.start; at-- > run.earliest;) {
      if (Accesses({at, *join}) > kMostEarlyAccesses) break;
      const std::optional<RunHost> host = HostAt(at, run);
      if (!host || host->longest_us < rules_.long_us) continue;
      const double saves = std::min(host->us, run.us);
      if (saves <= rules_.cost_us || (best && saves < best->saves_us)) continue;
      const uint32_t stream = FreeStream(host->streams, at, run.start);
      if (stream >= rules_.streams || !CanBeVerified({at, *join})) continue;
      best = {run.start, run.end, at, stream, saves};
    }
    return best;
  }

  // No other run begins beside the steps that host this one.
  void Claim(const EarlyRun& run, uint32_t join) {
    const uint32_t group = group_of_[run.host];
    double left = run.saves_us;
    for (uint32_t s = run.host; s < run.start; ++s) {
      if (group != kNone ? s >= groups_[group].end : left <= 0) break;
      hosts_run_[s] = true;
      left -= steps_[s].us;
    }
    std::fill(hosts_run_.begin() + run.start, hosts_run_.begin() + run.end, true);
    std::fill(stream_of_.begin() + run.start, stream_of_.begin() + run.end, run.stream);
    size_t first = 0;
    const EarlyStretch joined = Joined({run.host, join}, &first);
    for (size_t i = first; i < stretches_.size(); ++i) cost_ -= CostOf(stretches_[i]);
    stretches_.resize(first);
    stretches_.push_back(joined);
    cost_ += CostOf(joined);
  }

  const std::vector<StepLoad>& steps_;
  std::span<const SideRuns> groups_;
  const SideRules& rules_;
  std::vector<uint32_t> group_of_;       // by step; kNone: in no group
  std::vector<bool> hosts_run_;          // by step: hosts an early run, or is in one
  std::vector<uint32_t> stream_of_;      // by step
  std::vector<uint64_t> accesses_;       // by step: those of all steps before it
  std::vector<EarlyStretch> stretches_;  // none overlaps another; in their order
  uint64_t cost_ = 0;                    // of all stretches
};

}  // namespace

std::vector<EarlyRun> FindEarlyRuns(const std::vector<StepLoad>& steps,
                                    std::span<const SideRuns> groups, const SideRules& rules) {
  return EarlySearch(steps, groups, rules).Find();
}

}  // namespace aicf
