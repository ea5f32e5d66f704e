/// Channels of a value brought to one range before they get codes of one scale.
///
/// Where a product sums x_c w_c over channels c, it may as well sum (x_c / f_c) (w_c f_c). The step
/// that stores codes of x then multiplies each channel by a number of its own instead of one for
/// all, and the weights take the factors before they are quantised. Depthwise convolutions lose
/// nothing by that, because their weights have a scale for each channel anyway. In other products
/// values and weights share the difference (SmoothQuant, with one half).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace aicf::quantize {

/// Where the channels of a value lie in its buffer: element i is of channel i / stride % extent.
struct Channels {
  int64_t stride = 1, extent = 0;  ///< extent 0: products do not agree on channels

  bool known() const { return extent > 1; }
  friend bool operator==(const Channels&, const Channels&) = default;
};

/// Raises each channel's number in `largest` to the largest magnitude of the channel's finite
/// elements, where that is larger. REQUIRES: `largest` has `extent` elements.
void AddLargest(const Channels& channels, std::span<const float> elements,
                std::vector<double>& largest);

/// The exponents of CalibratedValue for channels of these largest magnitudes.
/// `weights`: the largest magnitudes of what each channel is multiplied by; empty: these do not
/// matter, because they have a scale for every channel.
std::vector<uint8_t> ChannelExponents(const std::vector<double>& largest,
                                      const std::vector<double>& weights);

/// What samples show of the channels of a value.
class ChannelObserver {
 public:
  /// REQUIRES: the channels are known.
  explicit ChannelObserver(const Channels& channels);

  /// `elements`: those that the value has on this sample; samples are numbered from 0.
  void Add(size_t sample, std::span<const float> elements);

  int64_t count() const { return count_; }  ///< of the elements of each channel
  std::vector<double> Largest() const;      ///< the largest magnitude of each channel

  /// Whether elements that were not observed can be expected to stay within their channel's range:
  /// either many of each channel were observed, or the ranges that one half of the samples shows
  /// hold for the other half. Otherwise, factors would make elements saturate that one scale for
  /// all channels has codes for. `weights`: as in ChannelExponents.
  bool TellsRanges(const std::vector<double>& weights) const;

 private:
  Channels channels_;
  std::array<std::vector<double>, 2> halves_;  ///< Largest() of every other sample
  int64_t count_ = 0;
};

/// Channels are scaled up by 2^10 at most: what is smaller hardly matters.
inline constexpr uint8_t kMostExponent = 40;
/// 2^(-exponent / 4): what a channel's elements are divided by, and its weights multiplied by.
float ChannelFactor(uint8_t exponent);
std::vector<float> ChannelFactors(const std::vector<uint8_t>& exponents);

}  // namespace aicf::quantize
