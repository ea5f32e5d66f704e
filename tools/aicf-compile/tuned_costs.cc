#include "tools/aicf-compile/tuned_costs.h"

#include <unistd.h>

#include <chrono>
#include <utility>

#include "tools/common/files.h"
#include "tools/common/process.h"
#include "tools/common/progress.h"
#include "tools/common/text.h"
#include "tools/tune/cpu_measurer.h"
#include "tools/tune/cuda_measurer.h"

namespace aicf::tools {
namespace {

double Now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since).count();
}

/// The guard that notes signals during TunedCosts::Prepare; nullptr outside of it. The tuner's
/// rules ask it through this pointer because they live longer than the guard.
const DeferSignals* g_signals = nullptr;

}  // namespace

Result<std::shared_ptr<CostSource>> TunedCosts::Make(const std::string& target,
                                                     tune::TimingCache known, tune::CostRules rules,
                                                     TunedCostsOptions options) {
  AICF_ASSIGN_OR_RETURN(const abi::DeviceSpec device, abi::FindDevice(target));
  std::shared_ptr<TunedCosts> costs(new TunedCosts(std::move(options)));
  StopwatchOptions stopwatch;
  stopwatch.warm = costs->options_.warm;
  stopwatch.kernel_cache_dir = costs->options_.kernel_cache_dir;
  stopwatch.progress = ShowProgress;
  if (device.backend == abi::Backend::kCpu) {
    costs->measurer_ = std::make_unique<CpuMeasurer>(std::move(stopwatch));
  } else {
    costs->measurer_ = std::make_unique<CudaMeasurer>(std::move(stopwatch));
  }
  costs->tuner_.emplace(std::move(known), *costs->measurer_, costs->Rules(), std::move(rules));
  return std::shared_ptr<CostSource>(std::move(costs));
}

tune::TuneRules TunedCosts::Rules() {
  tune::TuneRules rules;
  rules.seconds = options_.seconds;
  rules.programs = options_.programs;
  rules.now = &Now;
  rules.interrupted = [] { return g_signals != nullptr && g_signals->Noted(); };
  rules.progress = ShowProgress;
  rules.save = [this](const tune::TimingCache& measured) { return Save(measured); };
  return rules;
}

Status TunedCosts::Save(const tune::TimingCache& measured) const {
  if (options_.file.empty() || measured.empty()) return OkStatus();
  // The file is read again, because another process may have added to it since.
  tune::TimingCache all;
  if (access(options_.file.c_str(), F_OK) == 0) {
    AICF_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, ReadFile(options_.file));
    Result<tune::TimingCache> known = tune::TimingCache::Parse(
        std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    if (!known.ok()) return known.status().WithContext(options_.file);
    all = *std::move(known);
  }
  all.Merge(measured);
  return WriteFile(options_.file, all.ToText(), Existing::kReplace);
}

void TunedCosts::ReportMeasured(double seconds, int measured_before) const {
  ClearProgress();
  const int measured = tuner_->problems_measured() - measured_before;
  if (options_.quiet || (measured == 0 && tuner_->problems_left() == 0)) return;
  Print(StrCat("tuned ", measured, measured == 1 ? " problem" : " problems", " in ",
               static_cast<int>(seconds + 0.5), " s",
               tuner_->problems_left() == 0
                   ? ""
                   : StrCat(", no time for ", tuner_->problems_left(), " more"),
               options_.file.empty() ? "" : " -> " + Escape(options_.file), "\n"));
}

Status TunedCosts::Prepare(std::span<const CostQuestion> questions, const abi::DeviceSpec& device) {
  const DeferSignals signals;
  g_signals = &signals;
  const double begin = Now();
  const int before = tuner_->problems_measured();
  const Status status = tuner_->Prepare(questions, device);
  g_signals = nullptr;
  ReportMeasured(Now() - begin, before);
  return status;
}

}  // namespace aicf::tools
