#include "tools/common/stats.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/status.h"
#include "tools/common/text.h"

namespace aicf::tools {

Samples::Samples(std::vector<double> values) : sorted_(std::move(values)) {
  std::sort(sorted_.begin(), sorted_.end());
  sum_ = std::accumulate(sorted_.begin(), sorted_.end(), 0.0);
}

double Samples::median() const {
  const size_t middle = sorted_.size() / 2;
  if (sorted_.size() % 2 == 1) return sorted_[middle];
  return (sorted_[middle - 1] + sorted_[middle]) / 2;
}

double Samples::Percentile(double percent) const {
  const double rank = std::ceil(percent / 100 * static_cast<double>(sorted_.size()));
  const auto index = static_cast<int64_t>(rank) - 1;
  return sorted_[std::clamp<int64_t>(index, 0, static_cast<int64_t>(sorted_.size()) - 1)];
}

std::string SummaryLine(const Samples& samples, const std::vector<double>& percentiles) {
  std::string out =
      StrCat("min = ", FormatNumber(samples.min()), " ms, max = ", FormatNumber(samples.max()),
             " ms, mean = ", FormatNumber(samples.mean()),
             " ms, median = ", FormatNumber(samples.median()), " ms");
  for (const double p : percentiles) {
    std::string name = FormatNumber(p);
    if (name.find('.') != std::string::npos) {
      name.erase(name.find_last_not_of('0') + 1);
      if (name.back() == '.') name.pop_back();
    }
    out += StrCat(", percentile(", name, "%) = ", FormatNumber(samples.Percentile(p)), " ms");
  }
  return out;
}

}  // namespace aicf::tools
