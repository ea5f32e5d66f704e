/// --tune: a tuner with this machine's stopwatch, the terminal's progress, the cache's file, and an
/// end that a signal brings forward without losing anything.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "compiler/tune/tuner.h"

namespace aicf::tools {

struct TunedCostsOptions {
  std::string file;  ///< cache to merge measured times into; empty: none
  double seconds = 0;
  int programs = 1;
  bool warm = false;
  bool quiet = false;
  std::string kernel_cache_dir;
};

class TunedCosts final : public CostSource {
 public:
  /// Opens no device yet. Errors: kUnsupported for an unknown target.
  static Result<std::shared_ptr<CostSource>> Make(const std::string& target,
                                                  tune::TimingCache known, tune::CostRules rules,
                                                  TunedCostsOptions options);

  /// Interrupted by a signal, it writes what was measured and does not return.
  Status Prepare(std::span<const CostQuestion> questions, const abi::DeviceSpec& device) override;
  std::vector<KernelCost> CostsOf(const CostQuestion& question,
                                  const abi::DeviceSpec& device) override {
    return tuner_->CostsOf(question, device);
  }
  std::optional<LibraryAlgorithm> AlgorithmOf(const abi::Problem& problem,
                                              const abi::KernelInfo& kernel,
                                              const abi::DeviceSpec& device) override {
    return tuner_->AlgorithmOf(problem, kernel, device);
  }
  std::string UsedTimings() const override { return tuner_->UsedTimings(); }

 private:
  explicit TunedCosts(TunedCostsOptions options) : options_(std::move(options)) {}
  tune::TuneRules Rules();
  Status Save(const tune::TimingCache& measured) const;
  void ReportMeasured(double seconds, int measured_before) const;

  const TunedCostsOptions options_;
  std::unique_ptr<tune::Measurer> measurer_;
  std::optional<tune::Tuner> tuner_;
};

}  // namespace aicf::tools
