/// --tune: measures what the timing cache lacks, then answers from it.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/costs/cached_costs.h"
#include "compiler/tune/measurer.h"
#include "compiler/tune/race.h"

namespace aicf::tune {

struct TuneRules {
  double seconds = 0;  ///< budget of all programs together; 0: until everything is measured
  int programs = 1;    ///< entry points that will come: each gets its share of what is left
  RaceRules race;
  /// Seconds since some start; a test's own clock.
  std::function<double()> now;
  /// Asked before every sample: true ends the tuning with what was measured so far.
  std::function<bool()> interrupted;
  /// ("tuning, 12 s left", problems done, problems).
  std::function<void(std::string_view phase, int done, int total)> progress;
  /// Called with what was measured by this tuner so far, at least every ten seconds of measuring
  /// and at the end. Errors end the compilation.
  std::function<Status(const TimingCache& measured)> save;
};

/// A problem on the list of those to be measured.
struct TuneProblem {
  const abi::Problem* problem = nullptr;
  std::string hash;
  std::vector<KernelOption> options;  ///< those worth measuring, and the library's beside them
  double weight_us = 0;               ///< predicted microseconds of all its steps
  bool contested = false;             ///< there is a choice to make
};

/// The problems whose kernels are not all measured with the measurer's versions, each once;
/// contested ones first, then by weight: a small budget goes where the time is.
std::vector<TuneProblem> ProblemsToTune(std::span<const CostQuestion> questions,
                                        const std::vector<std::vector<KernelCost>>& costs,
                                        const TimingCache& cache, const DeviceId& id,
                                        Measurer& measurer);

/// Not thread-safe.
class Tuner final : public CostSource {
 public:
  /// `measurer` outlives the tuner.
  Tuner(TimingCache known, Measurer& measurer, TuneRules rules, CostRules cost_rules)
      : known_(std::move(known)),
        measurer_(measurer),
        rules_(std::move(rules)),
        cost_rules_(std::move(cost_rules)) {}

  /// Measures within the budget. A problem that cannot be measured is left out with a warning.
  /// Errors: no device to measure on; a device that failed (what was measured before is saved);
  /// those of TuneRules::save and CachedCosts::Prepare.
  Status Prepare(std::span<const CostQuestion> questions, const abi::DeviceSpec& device) override;
  std::vector<KernelCost> CostsOf(const CostQuestion& question,
                                  const abi::DeviceSpec& device) override;
  std::optional<LibraryAlgorithm> AlgorithmOf(const abi::Problem& problem,
                                              const abi::KernelInfo& kernel,
                                              const abi::DeviceSpec& device) override;
  std::string UsedTimings() const override;

  const TimingCache& measured() const { return measured_; }
  int problems_measured() const { return problems_measured_; }
  int problems_left() const { return problems_left_; }  ///< for lack of time

 private:
  Status Measure(std::span<const CostQuestion> questions, const abi::DeviceSpec& device);
  Status MeasureAll(const std::vector<TuneProblem>& pending);
  Status MeasureBatch(std::span<const TuneProblem> batch);
  Status MeasureOne(const TuneProblem& problem, Bench& bench);
  Status SaveNow();
  bool OutOfTime() const;
  void Report();

  TimingCache known_;
  Measurer& measurer_;
  TuneRules rules_;
  CostRules cost_rules_;
  std::optional<DeviceId> id_;
  std::optional<CachedCosts> costs_;  ///< after the first measuring
  TimingCache measured_;

  double spent_ = 0;  ///< seconds of earlier programs
  int programs_done_ = 0;
  double started_ = 0, deadline_ = 0, problem_deadline_ = 0, saved_ = 0;
  int done_ = 0, total_ = 0;
  double weight_left_ = 0;
  int problems_measured_ = 0, problems_left_ = 0;
};

}  // namespace aicf::tune
