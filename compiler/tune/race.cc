#include "compiler/tune/race.h"

#include <algorithm>
#include <numeric>

#include "compiler/costs/statistics.h"

namespace aicf::tune {
namespace {

class RaceCourse {
 public:
  RaceCourse(const std::vector<Runner>& runners, const RaceRules& rules)
      : runners_(runners), rules_(rules), samples_(runners.size()), left_(runners.size(), false) {}

  Result<RaceResult> Run(const std::function<Result<double>(size_t)>& sample,
                         const std::function<bool()>& out_of_time) {
    for (int round = 0; round < rules_.most_rounds && !Decided(round); ++round) {
      for (size_t k = 0; k < runners_.size(); ++k) {
        // Each round starts with another runner, so that what runs after a given runner is not
        // always the same one.
        const size_t r = (k + static_cast<size_t>(round)) % runners_.size();
        if (left_[r]) continue;
        if (out_of_time()) return Finish(false);
        AICF_ASSIGN_OR_RETURN(const double us, sample(r));
        samples_[r].push_back(us);
      }
      if (round + 1 >= rules_.least_rounds) DropHopeless();
    }
    return Finish(true);
  }

 private:
  // The fastest runner other than `except` that is in the race proper (not beside it) and has not
  // left; `except` where there is none.
  size_t Best(size_t except) const {
    size_t best = except;
    for (size_t r = 0; r < runners_.size(); ++r) {
      if (r == except || left_[r] || runners_[r].beside) continue;
      if (best == except || MedianOf(samples_[r]) < MedianOf(samples_[best])) best = r;
    }
    return best;
  }

  void DropHopeless() {
    const size_t none = runners_.size();
    const size_t best = Best(none);
    if (best == none) return;
    const double upper = MedianOf(samples_[best]) + SpreadOf(samples_[best]);
    for (size_t r = 0; r < runners_.size(); ++r) {
      if (r == best || left_[r] || runners_[r].beside) continue;
      const double factor = samples_[r].size() < 5 ? rules_.doubtful : rules_.hopeless;
      left_[r] = MedianOf(samples_[r]) - SpreadOf(samples_[r]) > factor * upper;
    }
  }

  bool Decided(int round) const {
    if (round < rules_.rounds) return false;
    const size_t none = runners_.size();
    const size_t best = Best(none);
    if (best == none) return true;
    const size_t second = Best(best);
    if (second == best) return true;
    return MedianOf(samples_[second]) > (1 + rules_.close) * MedianOf(samples_[best]);
  }

  RaceResult Finish(bool complete) const {
    RaceResult result;
    result.complete = complete;
    const auto least = static_cast<size_t>(rules_.least_rounds);
    const bool known =
        std::ranges::all_of(samples_, [&](const auto& s) { return s.size() >= least; });
    for (size_t r = 0; r < runners_.size(); ++r) {
      Lap lap;
      if (known) {
        lap = {MedianOf(samples_[r]), SpreadOf(samples_[r]), static_cast<int>(samples_[r].size()),
               static_cast<bool>(left_[r])};
      }
      result.laps.push_back(lap);
    }
    return result;
  }

  const std::vector<Runner>& runners_;
  const RaceRules& rules_;
  std::vector<std::vector<double>> samples_;
  std::vector<bool> left_;
};

}  // namespace

Result<RaceResult> Race(const std::vector<Runner>& runners, const RaceRules& rules,
                        const std::function<Result<double>(size_t)>& sample,
                        const std::function<bool()>& out_of_time) {
  return RaceCourse(runners, rules).Run(sample, out_of_time);
}

std::vector<size_t> WorthMeasuring(const std::vector<double>& predicted_us) {
  std::vector<size_t> order(predicted_us.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t i) { return predicted_us[i]; });
  size_t keep = std::min<size_t>(order.size(), 2);
  while (keep < order.size() &&
         predicted_us[order[keep]] <= kPruneFactor * predicted_us[order[0]] + kPruneUs) {
    ++keep;
  }
  order.resize(keep);
  std::ranges::sort(order);
  return order;
}

}  // namespace aicf::tune
