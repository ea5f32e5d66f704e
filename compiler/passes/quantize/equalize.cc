#include "compiler/passes/quantize/equalize.h"

#include <algorithm>
#include <cmath>

namespace aicf::quantize {
void AddLargest(const Channels& channels, std::span<const float> elements,
                std::vector<double>& largest) {
  const auto stride = static_cast<size_t>(channels.stride);
  const auto extent = static_cast<size_t>(channels.extent);
  for (size_t i = 0; i < elements.size(); ++i) {
    const double magnitude = std::fabs(static_cast<double>(elements[i]));
    double& most = largest[i / stride % extent];
    if (std::isfinite(magnitude)) most = std::max(most, magnitude);
  }
}

std::vector<uint8_t> ChannelExponents(const std::vector<double>& largest,
                                      const std::vector<double>& weights) {
  std::vector<double> wanted(largest.size(), 0);
  for (size_t c = 0; c < wanted.size(); ++c) {
    if (weights.empty()) {
      wanted[c] = largest[c];
    } else if (weights[c] > 0) {
      wanted[c] = std::sqrt(largest[c] / weights[c]);
    }
  }
  const double most = *std::ranges::max_element(wanted);
  std::vector<uint8_t> exponents(wanted.size(), 0);
  for (size_t c = 0; c < wanted.size(); ++c) {
    if (wanted[c] <= 0) continue;  // zeros stay zeros
    const double exponent = std::floor(4 * std::log2(most / wanted[c]));
    exponents[c] = static_cast<uint8_t>(std::clamp(exponent, 0.0, double{kMostExponent}));
  }
  return exponents;
}

float ChannelFactor(uint8_t exponent) {
  return static_cast<float>(std::exp2(-static_cast<double>(exponent) / 4));
}

std::vector<float> ChannelFactors(const std::vector<uint8_t>& exponents) {
  std::vector<float> factors;
  for (const uint8_t exponent : exponents) factors.push_back(ChannelFactor(exponent));
  return factors;
}

}  // namespace aicf::quantize
