/// Predictions corrected by measurements: of every kernel and math mode, the measured time is about
/// scale times the predicted one, plus an offset. The prediction itself (abi::Candidate::cost_us)
/// stays a roofline that knows no machine it has not been told of; what it gets wrong about a
/// kernel by a constant factor is put right here.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "compiler/costs/cost_fit.h"
#include "compiler/costs/timing_cache.h"
#include "kernels/abi/choice.h"

namespace aicf::tune {

struct FitPoint {
  double predicted_us = 0;
  double measured_us = 0;
};

/// The scale and the offset (>= 0) with the least sum of relative errors (not of their squares, so
/// that a few outliers move nothing), drawn towards `prior` as if that were four points more.
/// Rounded to four digits, so that it survives being written. Points without a time above zero are
/// left out.
CostFit FitPoints(std::span<const FitPoint> points, const CostFit& prior);

/// Corrections for one device, by rows of candidates. One without a correction of its own takes its
/// family's ("cuda.gemm.*", any math mode), which is fitted to all kernels of the family.
class FitTable {
 public:
  using Rows = std::map<std::pair<std::string, std::string>, CostFit>;

  FitTable() = default;
  explicit FitTable(Rows rows) : rows_(std::move(rows)) {}

  /// The row that corrects candidates of this row (abi::Candidate::row): that of the math mode, or
  /// of the other one of 16 bits, or that of all tiles of the kernel in the math mode (TilesRow),
  /// or the family's; nullptr when the prediction stands.
  const CostFit* Find(std::string_view row, abi::MathMode math) const;
  /// The candidate's predicted cost, corrected.
  double Predict(const abi::Candidate& candidate, abi::MathMode math) const;
  const Rows& rows() const { return rows_; }

 private:
  Rows rows_;
};

/// "cuda.gemm.*" of "cuda.gemm.tiled_64x64": the row that stands for the family.
std::string FamilyRow(std::string_view kernel);

/// "cuda.conv.hopper_*" of "cuda.conv.hopper_one_64x64": the row that stands for all tiles of a
/// kernel. FitCosts makes none; where tiles are predicted equally well, one is written by hand.
std::string TilesRow(std::string_view row);

/// From the device's times whose problems the cache has the text of. Problems that are invalid here
/// (a text of another version) are left out.
FitTable FitCosts(const TimingCache& cache, const DeviceId& id, const abi::DeviceSpec& device);

/// compiler/costs/fitted_costs.def, as `aicf-compile --fit-costs` printed it. Empty for a target
/// that nothing was measured on.
const FitTable& BuiltInFit(const abi::DeviceSpec& device);

/// The rows of fitted_costs.def for one target, with the device they are from in a comment.
std::string DefinitionText(const FitTable& table, const DeviceId& id,
                           const abi::DeviceSpec& device);

/// How well a table predicts what was measured.
struct FitQuality {
  int times = 0;            ///< predictions compared
  double median_error = 0;  ///< |predicted / measured - 1|
  double p90_error = 0;
  int problems = 0;       ///< with two or more measured kernels to choose from
  int near_best = 0;      ///< of these, whose predicted choice is within 1.3x of the fastest
  double mean_ratio = 1;  ///< geometric mean of predicted choice over the fastest
};
FitQuality Judge(const FitTable& table, const TimingCache& cache, const DeviceId& id,
                 const abi::DeviceSpec& device);

}  // namespace aicf::tune
