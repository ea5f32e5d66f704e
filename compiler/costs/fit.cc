#include "compiler/costs/fit.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

#include "compiler/costs/cost_source.h"
#include "compiler/costs/statistics.h"

namespace aicf::tune {
namespace {

constexpr double kPriorPoints = 4;

double Rounded(double value) { return std::round(value * 1e4) / 1e4; }

/// One step of weighted least squares for measured = scale * predicted + offset, in relative
/// errors. `weights` are those of the points' relative residuals.
CostFit Solve(std::span<const FitPoint> points, const std::vector<double>& weights) {
  double pp = 0, p1 = 0, one = 0, pm = 0, m1 = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    const auto& [p, m] = points[i];
    const double w = weights[i] / (m * m);
    pp += w * p * p;
    p1 += w * p;
    one += w;
    pm += w * p * m;
    m1 += w * m;
  }
  const double determinant = pp * one - p1 * p1;
  CostFit fit;
  // Equal predictions tell nothing about an offset.
  if (determinant > 1e-9 * pp * one) {
    fit.scale = (pm * one - p1 * m1) / determinant;
    fit.offset_us = (pp * m1 - p1 * pm) / determinant;
    if (fit.scale > 0 && fit.offset_us >= 0) return fit;
  }
  return {pp > 0 ? pm / pp : 1, 0, 0};
}

/// Least absolute relative errors, by reweighting.
CostFit RobustFit(std::span<const FitPoint> points) {
  constexpr int kIterations = 30;
  constexpr double kSmallest = 0.01;  // errors below it count alike, or one point would take all
  std::vector<double> weights(points.size(), 1.0);
  CostFit fit;
  for (int i = 0; i < kIterations; ++i) {
    fit = Solve(points, weights);
    for (size_t k = 0; k < points.size(); ++k) {
      const double error = fit.Apply(points[k].predicted_us) / points[k].measured_us - 1;
      weights[k] = 1 / std::max(kSmallest, std::abs(error));
    }
  }
  return fit;
}

/// A measured candidate of a problem that this build still understands.
struct MeasuredKernel {
  const std::string* problem;
  std::string name;  ///< of the variant
  std::string row;
  bool library;
  abi::MathMode math;
  FitPoint point;
};

/// What this build considers for one problem, by the names of the variants.
class OptionsByName {
 public:
  struct Option {
    std::string row;
    double cost_us;
    bool library;
  };

  OptionsByName(std::string_view text, const abi::DeviceSpec& device) {
    Result<abi::Problem> problem = abi::ParseProblem(text);
    if (!problem.ok() || !abi::ValidateProblem(*problem).ok()) return;
    math_ = problem->math;
    for (const abi::KernelInfo& kernel : abi::KernelsOf(problem->family)) {
      if (!kernel.supports(*problem, device).empty()) continue;
      const bool library = kernel.backend == abi::Backend::kLibrary;
      for (abi::Candidate& c : abi::CandidatesOf(kernel, *problem, device)) {
        const std::string name = KernelOption{&kernel, c}.Name();
        options_[name] = {std::move(c.row), c.cost_us, library};
      }
    }
  }

  const Option* Find(const std::string& name) const {
    const auto found = options_.find(name);
    return found == options_.end() ? nullptr : &found->second;
  }
  abi::MathMode math() const { return math_; }

 private:
  abi::MathMode math_ = abi::MathMode::kFp32;
  std::map<std::string, Option> options_;
};

std::vector<MeasuredKernel> MeasuredKernels(const TimingCache& cache, const DeviceId& id,
                                            const abi::DeviceSpec& device) {
  std::vector<MeasuredKernel> found;
  const TimingCache::Times* times = cache.TimesOf(id);
  if (times == nullptr) return found;
  const std::string* parsed = nullptr;
  std::optional<OptionsByName> options;
  for (const auto& [key, timing] : *times) {
    if (parsed == nullptr || *parsed != key.problem) {
      parsed = &key.problem;
      options.emplace(cache.TextOf(key.problem), device);
    }
    const OptionsByName::Option* option = options->Find(key.kernel);
    if (option == nullptr) continue;
    const double predicted = option->cost_us;
    if (!(predicted > 0) || !std::isfinite(predicted) || !(timing.median_us > 0)) continue;
    found.push_back({&key.problem,
                     key.kernel,
                     option->row,
                     option->library,
                     options->math(),
                     {predicted, timing.median_us}});
  }
  return found;
}

const std::string& Fastest(const std::vector<const MeasuredKernel*>& runners, const auto& cost) {
  const MeasuredKernel* best =
      *std::ranges::min_element(runners, {}, [&](const MeasuredKernel* m) { return cost(*m); });
  return best->name;
}

double Quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return values[static_cast<size_t>(q * static_cast<double>(values.size() - 1))];
}

}  // namespace

CostFit FitPoints(std::span<const FitPoint> points, const CostFit& prior) {
  std::vector<FitPoint> usable;
  for (const FitPoint& p : points) {
    if (p.predicted_us > 0 && p.measured_us > 0) usable.push_back(p);
  }
  if (usable.empty()) return {Rounded(prior.scale), Rounded(prior.offset_us), 0};
  const CostFit own = RobustFit(usable);
  const auto count = static_cast<double>(usable.size());
  const double share = count / (count + kPriorPoints);
  // Factors are averaged as factors: half of 4 and 1/4 is 1.
  const double scale = std::exp(share * std::log(own.scale) + (1 - share) * std::log(prior.scale));
  return {Rounded(scale), Rounded(share * own.offset_us + (1 - share) * prior.offset_us),
          static_cast<int>(usable.size())};
}

std::string FamilyRow(std::string_view kernel) {
  const size_t dot = kernel.find('.', kernel.find('.') + 1);
  return StrCat(kernel.substr(0, dot), ".*");
}

std::string TilesRow(std::string_view row) {
  const size_t end = row.find('_');
  return end == std::string_view::npos ? std::string(row) : StrCat(row.substr(0, end), "_*");
}

const CostFit* FitTable::Find(std::string_view row, abi::MathMode math) const {
  using abi::MathMode;
  const auto of = [&](MathMode m) {
    return rows_.find({std::string(row), std::string(abi::MathModeName(m))});
  };
  auto found = of(math);
  // The two kinds of 16 bits have one rate and one size.
  if (found == rows_.end() && math == MathMode::kFp16) found = of(MathMode::kBf16);
  if (found == rows_.end() && math == MathMode::kBf16) found = of(MathMode::kFp16);
  // What a tile of the copy engine's lines is off by is the same for lines of 32-bit elements.
  if (found == rows_.end() && math == MathMode::kTf32) found = of(MathMode::kFp16);
  if (found == rows_.end()) {
    found = rows_.find({TilesRow(row), std::string(abi::MathModeName(math))});
  }
  if (found == rows_.end()) found = rows_.find({FamilyRow(row), "*"});
  return found == rows_.end() ? nullptr : &found->second;
}

double FitTable::Predict(const abi::Candidate& candidate, abi::MathMode math) const {
  const CostFit* fit = Find(candidate.row, math);
  return fit == nullptr ? candidate.cost_us : fit->Apply(candidate.cost_us);
}

FitTable FitCosts(const TimingCache& cache, const DeviceId& id, const abi::DeviceSpec& device) {
  std::map<std::string, std::vector<FitPoint>> families;
  std::map<std::pair<std::string, std::string>, std::vector<FitPoint>> kernels;
  for (const MeasuredKernel& m : MeasuredKernels(cache, id, device)) {
    kernels[{m.row, std::string(MathModeName(m.math))}].push_back(m.point);
    families[FamilyRow(m.row)].push_back(m.point);
  }
  FitTable::Rows rows;
  for (const auto& [family, points] : families) rows[{family, "*"}] = FitPoints(points, {});
  for (const auto& [key, points] : kernels) {
    rows[key] = FitPoints(points, rows.at({FamilyRow(key.first), "*"}));
  }
  return FitTable(std::move(rows));
}

const FitTable& BuiltInFit(const abi::DeviceSpec& device) {
  struct Row {
    std::string_view target, kernel, math;
    double scale, offset_us;
    int problems;
  };
  static const std::vector<Row> rows = {
#define AICF_FITTED_COST(target, kernel, math, scale, offset_us, problems) \
  {target, kernel, math, scale, offset_us, problems},
#include "compiler/costs/fitted_costs.def"
#undef AICF_FITTED_COST
  };
  static const std::map<std::string, FitTable> tables = [] {
    std::map<std::string, FitTable::Rows> by_target;
    for (const Row& r : rows) {
      by_target[std::string(r.target)][{std::string(r.kernel), std::string(r.math)}] = {
          r.scale, r.offset_us, r.problems};
    }
    std::map<std::string, FitTable> made;
    for (auto& [target, own] : by_target) made.emplace(target, FitTable(std::move(own)));
    return made;
  }();
  static const FitTable none;
  const auto found = tables.find(TargetOf(device));
  return found == tables.end() ? none : found->second;
}

std::string DefinitionText(const FitTable& table, const DeviceId& id,
                           const abi::DeviceSpec& device) {
  std::string out = StrCat(
      "// Corrections of predicted costs, fitted to measurements (compiler/costs/fit.h). "
      "Generated:\n"
      "//   aicf-compile --fit-costs --timing-cache=FILE > compiler/costs/fitted_costs.def\n"
      "// Measured on: ",
      id.name, "\n", "// AICF_FITTED_COST(target, kernel, math, scale, offset_us, problems)\n");
  for (const auto& [key, fit] : table.rows()) {
    char numbers[96];
    std::snprintf(numbers, sizeof numbers, "%.4f, %.4f, %d", fit.scale, fit.offset_us, fit.samples);
    out += StrCat("AICF_FITTED_COST(\"", TargetOf(device), "\", \"", key.first, "\", \"",
                  key.second, "\", ", numbers, ")\n");
  }
  return out;
}

FitQuality Judge(const FitTable& table, const TimingCache& cache, const DeviceId& id,
                 const abi::DeviceSpec& device) {
  FitQuality quality;
  std::vector<double> errors;
  std::map<std::string, std::vector<const MeasuredKernel*>> problems;
  const std::vector<MeasuredKernel> all = MeasuredKernels(cache, id, device);
  const auto predict = [&](const MeasuredKernel& m) {
    const CostFit* fit = table.Find(m.row, m.math);
    return fit == nullptr ? m.point.predicted_us : fit->Apply(m.point.predicted_us);
  };
  for (const MeasuredKernel& m : all) {
    errors.push_back(std::abs(predict(m) / m.point.measured_us - 1));
    if (!m.library) problems[*m.problem].push_back(&m);
  }
  double logs = 0;
  for (const auto& [hash, runners] : problems) {
    if (runners.size() < 2) continue;
    const auto measured = [](const MeasuredKernel& m) { return m.point.measured_us; };
    const std::string& chosen = Fastest(runners, predict);
    double best = 1e300, taken = 0;
    for (const MeasuredKernel* m : runners) {
      best = std::min(best, measured(*m));
      if (m->name == chosen) taken = measured(*m);
    }
    ++quality.problems;
    quality.near_best += taken <= 1.3 * best ? 1 : 0;
    logs += std::log(taken / best);
  }
  quality.times = static_cast<int>(errors.size());
  quality.median_error = Quantile(errors, 0.5);
  quality.p90_error = Quantile(errors, 0.9);
  if (quality.problems > 0) quality.mean_ratio = std::exp(logs / quality.problems);
  return quality;
}

}  // namespace aicf::tune
