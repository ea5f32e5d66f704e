/// Costs from a timing cache, and from predictions corrected by it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/costs/cost_source.h"
#include "compiler/costs/fit.h"
#include "compiler/costs/timing_cache.h"

namespace aicf::tune {

struct CostRules {
  /// The device whose times count; empty: the only one the cache has for the target.
  std::string device_name = {};
  /// This device, with or without times in the cache: the one that is measured on.
  std::optional<DeviceId> device = {};
  /// An open choice between two or more kernels of which none is measured ends the compilation.
  bool error_on_miss = false;
};

/// The device that a compilation for `device` takes its times from.
/// nullopt: the cache has none for the target. Errors: kInvalidArgument when a name is asked for
/// that is not there, or several devices are and none is named; both list those that are there.
Result<std::optional<DeviceId>> ChooseDevice(const TimingCache& cache, const std::string& name,
                                             const abi::DeviceSpec& device);

/// Predictions are corrected by the `fit` lines of the cache where it has some (it is then the
/// extract that an artifact carries), else by fitting to its times; where that says nothing about a
/// kernel, by the built-in table. The fit is made before the first answer and stays, so that all
/// entry points of one artifact rest on one.
/// Not thread-safe: it notes what was used.
class CachedCosts final : public CostSource {
 public:
  CachedCosts(TimingCache cache, CostRules rules)
      : cache_(std::move(cache)), rules_(std::move(rules)) {}

  /// From the text that UsedTimings gave, as an artifact's provenance keeps it ("timings").
  static Result<CachedCosts> FromUsed(std::string_view text);

  /// Errors: those of ChooseDevice; kCheckFailed for a miss with `error_on_miss`, naming the steps.
  Status Prepare(std::span<const CostQuestion> questions, const abi::DeviceSpec& device) override;
  std::vector<KernelCost> CostsOf(const CostQuestion& question,
                                  const abi::DeviceSpec& device) override;
  std::optional<LibraryAlgorithm> AlgorithmOf(const abi::Problem& problem,
                                              const abi::KernelInfo& kernel,
                                              const abi::DeviceSpec& device) override;
  std::string UsedTimings() const override { return used_.empty() ? "" : used_.ToText(); }

  /// More times, measured meanwhile.
  void Add(const TimingCache& measured) { cache_.Merge(measured); }
  const TimingCache& cache() const { return cache_; }

 private:
  /// Settles device and fit, once.
  Status Open(const abi::DeviceSpec& device);
  Status FindDevice(const abi::DeviceSpec& device);
  Status CheckMisses(std::span<const CostQuestion> questions) const;
  double Predict(const abi::Candidate& candidate, abi::MathMode math,
                 const abi::DeviceSpec& device);

  TimingCache cache_;
  CostRules rules_;
  std::optional<Status> opened_;
  std::optional<DeviceId> id_;
  FitTable fit_;
  TimingCache used_;
};

/// The costs without any cache: predictions corrected by the built-in table.
std::vector<KernelCost> PredictedCosts(const CostQuestion& question, const abi::DeviceSpec& device);

}  // namespace aicf::tune
