#include "compiler/passes/quantize/equalize.h"

#include <algorithm>
#include <cmath>

namespace aicf::quantize {
namespace {

// Where elements are alike, one that was not observed is larger than all n observed ones of its
// channel once in n + 1 times. One in a thousand is so few that finer codes for all others outweigh
// it, even where it is many times as large as what was observed.
constexpr int64_t kManyElements = 1024;
// With fewer elements, how many times as far as the range that one half of the samples shows those
// of the other half may reach. With 1.3 the models of bench/results/cpu_calibration.md have about
// the same errors, and with 2 some have larger ones.
constexpr double kMostOverreach = 1.5;

double LargestChannel(const std::vector<double>& channels) {
  return *std::ranges::max_element(channels);
}

std::vector<double> DividedChannels(std::vector<double> channels,
                                    const std::vector<float>& factors) {
  for (size_t c = 0; c < channels.size(); ++c) channels[c] /= static_cast<double>(factors[c]);
  return channels;
}

// Whether elements of the largest magnitudes `unseen` about stay within the range that elements of
// the magnitudes `seen` show, when all of them are divided by the factors that follow from `seen`.
// By as much as they leave that range without factors, they may leave it with them.
bool Hold(const std::vector<double>& seen, const std::vector<double>& unseen,
          const std::vector<double>& weights) {
  if (LargestChannel(seen) == 0) return false;
  const std::vector<float> factors = ChannelFactors(ChannelExponents(seen, weights));
  const double overreach = LargestChannel(DividedChannels(unseen, factors)) /
                           LargestChannel(DividedChannels(seen, factors));
  const double without = LargestChannel(unseen) / LargestChannel(seen);
  return overreach <= kMostOverreach * std::max(1.0, without);
}

}  // namespace

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

ChannelObserver::ChannelObserver(const Channels& channels) : channels_(channels) {
  for (std::vector<double>& half : halves_) half.resize(static_cast<size_t>(channels.extent), 0);
}

void ChannelObserver::Add(size_t sample, std::span<const float> elements) {
  AddLargest(channels_, elements, halves_[sample % 2]);
  count_ += static_cast<int64_t>(elements.size()) / channels_.extent;
}

std::vector<double> ChannelObserver::Largest() const {
  std::vector<double> largest = halves_[0];
  for (size_t c = 0; c < largest.size(); ++c) largest[c] = std::max(largest[c], halves_[1][c]);
  return largest;
}

bool ChannelObserver::TellsRanges(const std::vector<double>& weights) const {
  if (count_ >= kManyElements) return true;
  return Hold(halves_[0], halves_[1], weights) && Hold(halves_[1], halves_[0], weights);
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
