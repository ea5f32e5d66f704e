#include "compiler/passes/plan/side_runs.h"

#include <algorithm>

namespace aicf {
namespace {

struct Stretch {
  uint32_t first = 0, end = 0;
  double us = 0;
  double longest_us = 0;  // of a step
  int64_t blocks = 0;     // of its largest launch
};

class Search {
 public:
  Search(const std::vector<StepLoad>& steps, const SideRules& rules)
      : steps_(steps), rules_(rules) {}

  std::vector<SideRuns> Run() {
    std::vector<SideRuns> found;
    uint32_t free = 0;  // the first step that is in no group yet
    for (uint32_t i = 1; i < steps_.size(); ++i) {
      if (i <= free || NeedsAny(i, i - 1, i)) continue;
      SideRuns group = BestPair(free, i);
      if (group.starts.empty()) continue;
      AddFurther(group);
      i = free = group.end;
      found.push_back(std::move(group));
    }
    return found;
  }

 private:
  // Whether step s needs one of [first, end).
  bool NeedsAny(uint32_t s, uint32_t first, uint32_t end) const {
    const std::vector<uint32_t>& needs = steps_[s].needs;
    const auto at = std::ranges::lower_bound(needs, first);
    return at != needs.end() && *at < end;
  }

  void Extend(Stretch& run, uint32_t s) const {
    run.us += steps_[s].us;
    run.longest_us = std::max(run.longest_us, steps_[s].us);
    run.blocks = std::max(run.blocks, steps_[s].blocks);
  }

  // The run that begins with step `first`. It goes on as long as no step needs one of [others,
  // first) and all launches fit. Once it is long enough, it ends before a step that needs nothing
  // of it and so could begin a run of its own.
  Stretch From(uint32_t first, uint32_t others, int64_t room) const {
    Stretch run{first, first, 0, 0, 0};
    while (run.end < steps_.size() && run.end - first < kLongestRun) {
      const StepLoad& step = steps_[run.end];
      if (step.blocks == 0 || step.blocks > room || NeedsAny(run.end, others, first)) break;
      if (run.us > rules_.cost_us && !NeedsAny(run.end, first, run.end)) break;
      Extend(run, run.end++);
    }
    return run;
  }

  // The two runs that meet at `middle` and save the most.
  SideRuns BestPair(uint32_t free, uint32_t middle) const {
    SideRuns best;
    Stretch front{middle, middle, 0, 0, 0};
    while (front.first > free && middle - front.first < kLongestRun) {
      const uint32_t h = front.first - 1;
      if (steps_[h].blocks == 0 || NeedsAny(middle, h, h + 1)) break;
      Extend(front, h);
      front.first = h;
      const Stretch back = From(middle, h, rules_.room - front.blocks);
      const double saves = std::min(front.us, back.us);
      if (std::max(front.longest_us, back.longest_us) < rules_.long_us) continue;
      if (saves > rules_.cost_us && saves > best.saves_us) best = {{h, middle}, back.end, saves};
    }
    return best;
  }

  // Adds further runs after the first two, as long as there is room for them.
  void AddFurther(SideRuns& group) const {
    while (group.starts.size() < rules_.streams) {
      int64_t taken = 0;
      double longest = 0;
      for (size_t r = 0; r < group.starts.size(); ++r) {
        Stretch run;
        for (uint32_t s = group.starts[r]; s < group.EndOf(r); ++s) Extend(run, s);
        taken += run.blocks;
        longest = std::max(longest, run.us);
      }
      const Stretch next = From(group.end, group.starts[0], rules_.room - taken);
      const double saves = std::min(longest, next.us);
      if (saves <= rules_.cost_us) return;
      group.starts.push_back(group.end);
      group.end = next.end;
      group.saves_us += saves;
    }
  }

  const std::vector<StepLoad>& steps_;
  const SideRules& rules_;
};

}  // namespace

std::vector<SideRuns> FindSideRuns(const std::vector<StepLoad>& steps, const SideRules& rules) {
  return Search(steps, rules).Run();
}

}  // namespace aicf
