#include "compiler/passes/quantize/observer.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace aicf::quantize {
namespace {

constexpr size_t kBins = 2048;
// The entropy method tries ranges of which each has this many bins more than the one before.
constexpr size_t kStep = 8;
// Elements that the percentile method lets saturate: one in so many.
constexpr int64_t kSaturated = 10000;

// How far the distribution of the first `kept` bins, with everything beyond them in the last one,
// is from what `levels` codes of equal width say of it.
double Divergence(const std::vector<int64_t>& bins, size_t kept, size_t levels, int64_t total) {
  int64_t beyond = 0;
  for (size_t i = kept; i < bins.size(); ++i) beyond += bins[i];
  double divergence = 0;
  for (size_t level = 0; level < levels; ++level) {
    const size_t first = level * kept / levels, last = (level + 1) * kept / levels;
    int64_t sum = 0;
    size_t filled = 0;
    for (size_t i = first; i < last; ++i) {
      sum += bins[i];
      filled += bins[i] > 0 ? 1 : 0;
    }
    for (size_t i = first; i < last; ++i) {
      const int64_t here = bins[i] + (i + 1 == kept ? beyond : 0);
      if (here == 0) continue;
      const double p = static_cast<double>(here) / static_cast<double>(total);
      // No code describes a bin that holds nothing but saturated elements: it is taken as half an
      // element.
      const double q = filled == 0 ? 0.5 / static_cast<double>(total)
                                   : static_cast<double>(sum) / static_cast<double>(filled) /
                                         static_cast<double>(total - beyond);
      divergence += p * std::log(p / q);
    }
  }
  return divergence;
}

}  // namespace

void Observer::Add(std::span<const float> elements) {
  for (const float element : elements) {
    if (!std::isfinite(element)) {
      finite_ = false;
      continue;
    }
    ++count_;
    if (element == 0) continue;
    const double value = element, magnitude = std::fabs(value);
    low_ = std::min(low_, value);
    high_ = std::max(high_, value);
    if (width_ == 0 || magnitude >= width_ * kBins) Reach(magnitude);
    ++bins_[static_cast<size_t>(magnitude / width_)];
  }
}

// Makes the bins reach up to `magnitude`. Their width is always a power of two, so that two bins
// make one of the next width, whatever elements came first.
void Observer::Reach(double magnitude) {
  if (width_ == 0) {
    bins_.assign(kBins, 0);
    width_ = std::exp2(std::ilogb(magnitude) + 1) / kBins;
  }
  while (magnitude >= width_ * kBins) {
    for (size_t i = 0; i < kBins / 2; ++i) bins_[i] = bins_[2 * i] + bins_[2 * i + 1];
    std::fill(bins_.begin() + kBins / 2, bins_.end(), 0);
    width_ *= 2;
  }
}

double Observer::Largest() const { return std::max(-low_, high_); }

double Observer::Percentile() const {
  const int64_t most = count_ / kSaturated;
  int64_t above = 0;
  for (size_t i = kBins; i-- > 0;) {
    above += bins_[i];
    if (above > most) return std::min(Largest(), width_ * static_cast<double>(i + 1));
  }
  return Largest();
}

double Observer::Entropy(int levels) const {
  const auto wanted = static_cast<size_t>(levels);
  // The first bin holds elements that are almost zero. They would outweigh all others, and lose
  // nothing if they become zero, so they count no more than the elements of the second bin.
  std::vector<int64_t> bins = bins_;
  bins[0] = std::min(bins[0], bins[1]);
  int64_t total = 0;
  for (const int64_t n : bins) total += n;
  if (total == 0) return Largest();
  const auto used = static_cast<size_t>(std::ceil(Largest() / width_));
  double best = std::numeric_limits<double>::infinity(), limit = Largest();
  for (size_t kept = wanted; kept <= std::min(used, kBins); kept += kStep) {
    const double divergence = Divergence(bins, kept, wanted, total);
    if (divergence >= best) continue;
    best = divergence;
    limit = std::min(Largest(), width_ * static_cast<double>(kept));
  }
  return limit;
}

double Observer::Limit(RangeMethod method, int levels) const {
  if (width_ == 0) return 0;
  switch (method) {
    case RangeMethod::kMinMax:
      return Largest();
    case RangeMethod::kPercentile:
      return Percentile();
    case RangeMethod::kEntropy:
      return Entropy(levels);
  }
  return Largest();
}

}  // namespace aicf::quantize
