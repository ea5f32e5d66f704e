#include "compiler/passes/quantize/output_error.h"

#include <algorithm>
#include <cmath>

namespace aicf::quantize {
namespace {

constexpr double kMost = 1e30;

}  // namespace

void OutputError::Add(const std::vector<ir::Tensor>& expected,
                      const std::vector<ir::Tensor>& found) {
  sums_.resize(expected.size());
  for (size_t k = 0; k < expected.size(); ++k) {
    const ir::Tensor &want = expected[k], &got = found[k];
    Sums& sums = sums_[k];
    sums.is_float = IsFloat(want.dtype());
    for (int64_t i = 0; i < want.count(); ++i) {
      if (!sums.is_float) {
        ++sums.count;
        sums.differ += want.IntAt(i) != got.IntAt(i) ? 1 : 0;
        continue;
      }
      const double exact = want.FloatAt(i);
      if (!std::isfinite(exact)) continue;
      const double error = got.FloatAt(i) - exact;
      sums.squares += exact * exact;
      sums.errors += std::isfinite(error) ? error * error : kMost * kMost;
    }
  }
}

double OutputError::Relative() const {
  double largest = 0;
  for (const Sums& s : sums_) {
    double error = s.count > 0 ? s.differ / s.count : 0;
    if (s.is_float && s.errors > 0) {
      error = s.squares > 0 ? std::sqrt(s.errors / s.squares) : kMost;
    }
    largest = std::max(largest, std::min(error, kMost));
  }
  return largest;
}

}  // namespace aicf::quantize
