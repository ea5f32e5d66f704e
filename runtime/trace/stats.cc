#include "runtime/trace/stats.h"

#include <algorithm>
#include <cstddef>

namespace aicf::trace {

double Median(std::vector<double> samples) {
  const size_t middle = samples.size() / 2;
  const auto at = samples.begin() + static_cast<std::ptrdiff_t>(middle);
  std::nth_element(samples.begin(), at, samples.end());
  if (samples.size() % 2 == 1) return *at;
  return (*std::max_element(samples.begin(), at) + *at) / 2;
}

std::vector<double> NonDecreasing(const std::vector<double>& values) {
  struct Block {
    double sum;
    size_t count;
    double mean() const { return sum / static_cast<double>(count); }
  };
  std::vector<Block> blocks;
  for (double value : values) {
    blocks.push_back({value, 1});
    while (blocks.size() > 1 && blocks[blocks.size() - 2].mean() > blocks.back().mean()) {
      const Block last = blocks.back();
      blocks.pop_back();
      blocks.back().sum += last.sum;
      blocks.back().count += last.count;
    }
  }
  std::vector<double> out;
  out.reserve(values.size());
  for (const Block& block : blocks) out.insert(out.end(), block.count, block.mean());
  return out;
}

}  // namespace aicf::trace
