/// --tune: connects the tuner to this machine's stopwatch, to progress on the terminal and to the
/// cache file. A signal ends the tuning early without losing what has been measured.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "compiler/tune/tuner.h"

namespace aicf::tools {

struct TunedCostsOptions {
  std::string file;  ///< timing cache into which measured times are merged; empty: none
  double seconds = 0;
  int programs = 1;
  bool warm = false;
  bool quiet = false;
  std::string kernel_cache_dir;
};

class TunedCosts final : public CostSource {
 public:
  /// Does not open a device yet. Errors: kUnsupported for an unknown target.
  static Result<std::shared_ptr<CostSource>> Make(const std::string& target,
                                                  tune::TimingCache known, tune::CostRules rules,
                                                  TunedCostsOptions options);

  /// When a signal interrupts it, it writes what was measured and ends the process.
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
