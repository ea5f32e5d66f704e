#include "compiler/costs/cached_costs.h"

#include <algorithm>

#include "base/log.h"
#include "base/scanner.h"

namespace aicf::tune {
namespace {

std::string NamesOf(const std::vector<DeviceId>& devices) {
  std::string names;
  for (const DeviceId& id : devices) names += StrCat(names.empty() ? "" : ", ", Quote(id.name));
  return names.empty() ? "none" : names;
}

}  // namespace

Result<std::optional<DeviceId>> ChooseDevice(const TimingCache& cache, const std::string& name,
                                             const abi::DeviceSpec& device) {
  const std::vector<DeviceId> known = cache.DevicesFor(device);
  if (name.empty()) {
    if (known.empty()) return std::optional<DeviceId>();
    if (known.size() == 1) return std::optional(known[0]);
    return Error(Code::kInvalidArgument, "the timing cache has times of ", known.size(),
                 " devices for ", device.name, "; name one: --timing-device=NAME, one of ",
                 NamesOf(known));
  }
  const auto found = std::ranges::find(known, name, &DeviceId::name);
  if (found != known.end()) return std::optional(*found);
  return Error(Code::kInvalidArgument, "the timing cache has no times of ", Quote(name), " for ",
               device.name, "; it has: ", NamesOf(known));
}

Result<CachedCosts> CachedCosts::FromUsed(std::string_view text) {
  TimingCache cache;
  if (!text.empty()) {
    AICF_ASSIGN_OR_RETURN(cache, TimingCache::Parse(text));
  }
  CachedCosts costs(std::move(cache), {});
  // Whole, whatever is asked: what is made again says the same about its making.
  costs.used_ = costs.cache_;
  return costs;
}

Status CachedCosts::FindDevice(const abi::DeviceSpec& device) {
  id_ = rules_.device;
  if (!id_) {
    AICF_ASSIGN_OR_RETURN(id_, ChooseDevice(cache_, rules_.device_name, device));
  }
  const bool extract = !used_.empty();
  if (!id_ && !cache_.empty() && !extract) {
    Log(LogLevel::kWarning, StrCat("the timing cache has no times for ", device.name));
  }
  return OkStatus();
}

Status CachedCosts::Open(const abi::DeviceSpec& device) {
  if (opened_) return *opened_;
  opened_ = FindDevice(device);
  if (!opened_->ok() || !id_) return *opened_;
  const TimingCache::Fits* fits = cache_.FitsOf(*id_);
  fit_ = fits != nullptr && !fits->empty() ? FitTable(*fits) : FitCosts(cache_, *id_, device);
  return OkStatus();
}

Status CachedCosts::Prepare(std::span<const CostQuestion> questions,
                            const abi::DeviceSpec& device) {
  AICF_RETURN_IF_ERROR(Open(device));
  return rules_.error_on_miss ? CheckMisses(questions) : OkStatus();
}

Status CachedCosts::CheckMisses(std::span<const CostQuestion> questions) const {
  constexpr int kNamed = 10;
  int misses = 0;
  std::string named;
  for (const CostQuestion& q : questions) {
    if (!q.open || std::ranges::count_if(q.options, std::not_fn(&KernelOption::IsLibrary)) < 2)
      continue;
    const std::string hash = HashOf(*q.problem);
    const bool hit = std::ranges::any_of(q.options, [&](const KernelOption& o) {
      return !o.IsLibrary() && id_ && cache_.Find(*id_, hash, o.Name()) != nullptr;
    });
    if (hit) continue;
    if (++misses > kNamed) continue;
    named += StrCat(misses == 1 ? "" : "; ", q.subject, ": problem ", hash, " (",
                    abi::FamilyName(q.problem->family), ")");
  }
  if (misses == 0) return OkStatus();
  return Error(Code::kCheckFailed, "the timing cache misses ", misses, " of ", questions.size(),
               " steps", id_ ? StrCat(" on ", id_->name) : "", ": ", named,
               misses > kNamed ? "; and more" : "");
}

double CachedCosts::Predict(const abi::Candidate& candidate, abi::MathMode math,
                            const abi::DeviceSpec& device) {
  const CostFit* fit = fit_.Find(candidate.row, math);
  const FitTable& built_in = BuiltInFit(device);
  if (fit == nullptr) return built_in.Predict(candidate, math);
  const std::string name(MathModeName(math));
  const auto row = fit_.rows().find({candidate.row, name});
  const bool own = row != fit_.rows().end();
  // A cache of a few problems says less about others than what this build was fitted to.
  const auto known = built_in.rows().find({candidate.row, name});
  if (known != built_in.rows().end() && (!own || fit->samples < known->second.samples)) {
    return built_in.Predict(candidate, math);
  }
  // What was found under the family's row is found there again.
  used_.PutFit(*id_, own ? candidate.row : FamilyRow(candidate.row), own ? name : "*", *fit);
  return fit_.Predict(candidate, math);
}

std::vector<KernelCost> CachedCosts::CostsOf(const CostQuestion& question,
                                             const abi::DeviceSpec& device) {
  const std::string hash = id_ ? HashOf(*question.problem) : "";
  std::vector<KernelCost> costs;
  for (const KernelOption& option : question.options) {
    KernelCost cost{Predict(option.candidate, question.problem->math, device), -1};
    const std::string name = option.Name();
    const Timing* timing = id_ ? cache_.Find(*id_, hash, name) : nullptr;
    if (timing != nullptr) {
      cost.measured_us = timing->median_us;
      cost.spread_us = timing->spread_us;
      used_.Copy(cache_, *id_, hash, name);
    }
    costs.push_back(cost);
  }
  return costs;
}

std::optional<LibraryAlgorithm> CachedCosts::AlgorithmOf(const abi::Problem& problem,
                                                         const abi::KernelInfo& kernel,
                                                         const abi::DeviceSpec& device) {
  if (!Open(device).ok() || !id_) return std::nullopt;
  const std::string hash = HashOf(problem);
  const Timing* timing = cache_.Find(*id_, hash, kernel.key);
  if (timing == nullptr || timing->algorithm.bytes.empty()) return std::nullopt;
  used_.Copy(cache_, *id_, hash, kernel.key);
  return timing->algorithm;
}

std::vector<KernelCost> PredictedCosts(const CostQuestion& question,
                                       const abi::DeviceSpec& device) {
  std::vector<KernelCost> costs;
  for (const KernelOption& option : question.options) {
    costs.push_back({BuiltInFit(device).Predict(option.candidate, question.problem->math), -1});
  }
  return costs;
}

}  // namespace aicf::tune
