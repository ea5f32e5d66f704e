/// What is kept of a kernel's samples.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace aicf::tune {

/// The middle of the samples, the mean of the two middle ones of an even number.
/// REQUIRES: not empty.
inline double MedianOf(std::vector<double> samples) {
  const size_t half = samples.size() / 2;
  std::nth_element(samples.begin(), samples.begin() + static_cast<ptrdiff_t>(half), samples.end());
  const double upper = samples[half];
  if (samples.size() % 2 != 0) return upper;
  return (upper +
          *std::max_element(samples.begin(), samples.begin() + static_cast<ptrdiff_t>(half))) /
         2;
}

/// Median distance from the median: half of the samples are nearer. One straggler does not move it.
inline double SpreadOf(const std::vector<double>& samples) {
  const double middle = MedianOf(samples);
  std::vector<double> distances;
  for (double s : samples) distances.push_back(std::abs(s - middle));
  return MedianOf(std::move(distances));
}

}  // namespace aicf::tune
