/// Small statistics over timing samples.
#pragma once

#include <vector>

namespace aicf::trace {

/// The middle sample, or the mean of the middle two. REQUIRES: not empty.
double Median(std::vector<double> samples);

/// The non-decreasing sequence closest to `values` (least squares): neighbours out of order are
/// replaced by their mean. Makes differences of noisy cumulative times non-negative without moving
/// their total by more than the noise.
std::vector<double> NonDecreasing(const std::vector<double>& values);

}  // namespace aicf::trace
