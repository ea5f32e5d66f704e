/// Summary of repeated time measurements.
#pragma once

#include <string>
#include <vector>

namespace aicf::tools {

/// Sorted samples with the figures that trtexec prints.
class Samples {
 public:
  explicit Samples(std::vector<double> values);

  bool empty() const { return sorted_.empty(); }
  size_t size() const { return sorted_.size(); }
  /// All of these REQUIRE !empty().
  double min() const { return sorted_.front(); }
  double max() const { return sorted_.back(); }
  double mean() const { return sum_ / static_cast<double>(sorted_.size()); }
  double median() const;
  double sum() const { return sum_; }
  /// The percentile by nearest rank: the smallest sample that at least `percent` % of all samples
  /// do not exceed.
  double Percentile(double percent) const;

 private:
  std::vector<double> sorted_;
  double sum_ = 0;
};

/// "min = 0.51 ms, max = ..., mean = ..., median = ..., percentile(90%) = ..."; samples in ms.
std::string SummaryLine(const Samples& samples, const std::vector<double>& percentiles);

}  // namespace aicf::tools
