#include "compiler/tune/tuner.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/log.h"

namespace aicf::tune {
namespace {

/// What is worth measuring of one question: the own options that the prediction does not rule out,
/// and the library's beside them.
void SelectOptions(const CostQuestion& question, const std::vector<KernelCost>& costs,
                   Measurer& measurer, TuneProblem* out) {
  std::vector<size_t> own;
  std::vector<double> predicted;
  for (size_t k = 0; k < question.options.size(); ++k) {
    if (question.options[k].IsLibrary()) continue;
    own.push_back(k);
    predicted.push_back(costs[k].predicted_us);
  }
  std::vector<bool> worth(question.options.size(), false);
  for (size_t i : WorthMeasuring(predicted)) worth[own[i]] = true;
  for (size_t k = 0; k < question.options.size(); ++k) {
    const KernelOption& option = question.options[k];
    if ((worth[k] || option.IsLibrary()) && !measurer.VersionOf(*option.kernel).empty()) {
      out->options.push_back(option);
    }
  }
  out->contested = own.size() > 1;
  if (!predicted.empty()) out->weight_us = *std::ranges::min_element(predicted);
}

bool IsKnown(const TuneProblem& p, const TimingCache& cache, const DeviceId& id,
             Measurer& measurer) {
  return std::ranges::all_of(p.options, [&](const KernelOption& o) {
    const Timing* timing = cache.Find(id, p.hash, o.Name());
    // A library that had no algorithm when the others were measured has none now.
    if (timing == nullptr) return o.IsLibrary();
    return timing->version == measurer.VersionOf(*o.kernel);
  });
}

}  // namespace

std::vector<TuneProblem> ProblemsToTune(std::span<const CostQuestion> questions,
                                        const std::vector<std::vector<KernelCost>>& costs,
                                        const TimingCache& cache, const DeviceId& id,
                                        Measurer& measurer) {
  std::vector<TuneProblem> list;
  std::map<std::string, size_t> index;
  for (size_t q = 0; q < questions.size(); ++q) {
    TuneProblem p;
    p.problem = questions[q].problem;
    p.hash = HashOf(*p.problem);
    SelectOptions(questions[q], costs[q], measurer, &p);
    const auto [at, fresh] = index.emplace(p.hash, list.size());
    if (fresh) {
      list.push_back(std::move(p));
    } else {
      list[at->second].weight_us += p.weight_us;
    }
  }
  std::erase_if(list, [&](const TuneProblem& p) {
    return p.options.empty() || IsKnown(p, cache, id, measurer);
  });
  std::ranges::stable_sort(list, [](const TuneProblem& a, const TuneProblem& b) {
    if (a.contested != b.contested) return a.contested;
    return a.weight_us > b.weight_us;
  });
  return list;
}

Status Tuner::Prepare(std::span<const CostQuestion> questions, const abi::DeviceSpec& device) {
  if (!id_) {
    AICF_ASSIGN_OR_RETURN(id_, measurer_.Open(device));
    cost_rules_.device = id_;
  }
  AICF_RETURN_IF_ERROR(Measure(questions, device));
  if (!costs_) {
    TimingCache all = known_;
    all.Merge(measured_);
    costs_.emplace(std::move(all), cost_rules_);
  } else {
    costs_->Add(measured_);
  }
  return costs_->Prepare(questions, device);
}

Status Tuner::Measure(std::span<const CostQuestion> questions, const abi::DeviceSpec& device) {
  TimingCache known = known_;
  known.Merge(measured_);
  std::vector<std::vector<KernelCost>> costs;
  for (const CostQuestion& q : questions) costs.push_back(PredictedCosts(q, device));
  const std::vector<TuneProblem> pending = ProblemsToTune(questions, costs, known, *id_, measurer_);
  started_ = saved_ = rules_.now();
  const int programs_left = std::max(1, rules_.programs - programs_done_++);
  deadline_ = rules_.seconds > 0 ? started_ + std::max(0.0, rules_.seconds - spent_) / programs_left
                                 : std::numeric_limits<double>::infinity();
  done_ = 0;
  total_ = static_cast<int>(pending.size());
  const Status status = MeasureAll(pending);
  spent_ += rules_.now() - started_;
  problems_left_ += total_ - done_;
  const Status saved = pending.empty() ? OkStatus() : SaveNow();
  return status.ok() ? saved : status;
}

bool Tuner::OutOfTime() const {
  return (rules_.interrupted && rules_.interrupted()) || rules_.now() >= deadline_;
}

Status Tuner::MeasureAll(const std::vector<TuneProblem>& pending) {
  weight_left_ = 0;
  for (const TuneProblem& p : pending) weight_left_ += p.weight_us;
  // Small batches come first, so that a small budget is not spent on compiling what is then never
  // measured.
  int wanted = measurer_.BatchSize();
  for (size_t first = 0; first < pending.size() && !OutOfTime(); wanted *= 2) {
    size_t last = first;
    for (int options = 0; last < pending.size() && (last == first || options < wanted); ++last) {
      options += static_cast<int>(pending[last].options.size());
    }
    wanted = std::min(wanted, 8 * measurer_.BatchSize());
    AICF_RETURN_IF_ERROR(MeasureBatch(std::span(pending).subspan(first, last - first)));
    first = last;
  }
  return OkStatus();
}

Status Tuner::MeasureBatch(std::span<const TuneProblem> batch) {
  std::vector<BenchRequest> requests;
  for (const TuneProblem& p : batch) requests.push_back({p.problem, p.options});
  AICF_RETURN_IF_ERROR(measurer_.Prepare(requests));
  for (size_t i = 0; i < batch.size() && !OutOfTime(); ++i) {
    const Result<std::unique_ptr<Bench>> bench = measurer_.Make(i);
    Status status = bench.ok() ? MeasureOne(batch[i], **bench) : bench.status();
    if (status.code() == Code::kDevice) return status;
    if (!status.ok()) {
      Log(LogLevel::kWarning,
          StrCat("not tuned: ", status.message(), " (", abi::ToString(*batch[i].problem), ")"));
    }
    ++done_;
    weight_left_ -= batch[i].weight_us;
    Report();
    if (rules_.now() - saved_ > 10) AICF_RETURN_IF_ERROR(SaveNow());
  }
  return OkStatus();
}

Status Tuner::MeasureOne(const TuneProblem& problem, Bench& bench) {
  std::vector<Runner> runners;
  std::vector<size_t> option_of;
  for (size_t k = 0; k < problem.options.size(); ++k) {
    if (!bench.Refusal(k).empty()) continue;
    runners.push_back({problem.options[k].IsLibrary()});
    option_of.push_back(k);
  }
  // No problem takes more than four times its share of what is left, counted half by its weight and
  // half by the number of problems.
  const double left = deadline_ - rules_.now();
  const double share = 0.5 / std::max(1, total_ - done_) +
                       (weight_left_ > 0 ? 0.5 * problem.weight_us / weight_left_ : 0);
  problem_deadline_ = std::isinf(left) ? left : rules_.now() + left * std::min(1.0, 4 * share);
  AICF_ASSIGN_OR_RETURN(
      const RaceResult result,
      Race(
          runners, rules_.race, [&](size_t r) { return bench.Sample(option_of[r]); },
          [&] { return OutOfTime() || rules_.now() >= problem_deadline_; }));
  bool measured = false;
  for (size_t r = 0; r < runners.size(); ++r) {
    const Lap& lap = result.laps[r];
    if (lap.count == 0) continue;
    const KernelOption& option = problem.options[option_of[r]];
    Timing timing{lap.median_us, lap.spread_us, lap.count, measurer_.VersionOf(*option.kernel), {}};
    if (option.IsLibrary()) timing.algorithm = bench.Algorithm(option_of[r]);
    measured_.Put(*id_, *problem.problem, option.Name(), std::move(timing));
    measured = true;
  }
  problems_measured_ += measured ? 1 : 0;
  return OkStatus();
}

void Tuner::Report() {
  if (!rules_.progress) return;
  const double elapsed = rules_.now() - started_;
  double left = done_ > 0 ? elapsed / done_ * (total_ - done_) : 0;
  left = std::min(left, deadline_ - rules_.now());
  rules_.progress(StrCat("tuning, ", static_cast<int>(std::ceil(std::max(0.0, left))), " s left"),
                  done_, total_);
}

Status Tuner::SaveNow() {
  saved_ = rules_.now();
  return rules_.save ? rules_.save(measured_) : OkStatus();
}

std::vector<KernelCost> Tuner::CostsOf(const CostQuestion& question,
                                       const abi::DeviceSpec& device) {
  return costs_->CostsOf(question, device);
}

std::optional<LibraryAlgorithm> Tuner::AlgorithmOf(const abi::Problem& problem,
                                                   const abi::KernelInfo& kernel,
                                                   const abi::DeviceSpec& device) {
  // Before anything is measured the library itself is asked, whose answer is what will be measured.
  return costs_ ? costs_->AlgorithmOf(problem, kernel, device) : std::nullopt;
}

std::string Tuner::UsedTimings() const { return costs_ ? costs_->UsedTimings() : ""; }

}  // namespace aicf::tune
