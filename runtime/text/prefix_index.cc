#include "runtime/text/prefix_index.h"

#include <algorithm>

namespace aicf::text {

PrefixIndex::PrefixIndex(const std::vector<std::string>& tokens, std::vector<uint32_t> ids)
    : tokens_(&tokens), ids_(std::move(ids)) {
  std::sort(ids_.begin(), ids_.end(),
            [&](uint32_t a, uint32_t b) { return tokens[a] < tokens[b]; });
  for (uint32_t i = 0; i < ids_.size(); ++i) {
    auto& [low, high] = first_[static_cast<uint8_t>(tokens[ids_[i]][0])];
    if (low == high) low = i;
    high = i + 1;
  }
}

void PrefixIndex::Narrow(size_t depth, uint8_t byte, uint32_t* low, uint32_t* high) const {
  const auto at = [&](uint32_t id) { return static_cast<uint8_t>((*tokens_)[id][depth]); };
  const auto begin = ids_.begin() + *low, end = ids_.begin() + *high;
  const auto from = std::partition_point(begin, end, [&](uint32_t id) { return at(id) < byte; });
  const auto to = std::partition_point(from, end, [&](uint32_t id) { return at(id) == byte; });
  *low = static_cast<uint32_t>(from - ids_.begin());
  *high = static_cast<uint32_t>(to - ids_.begin());
}

}  // namespace aicf::text
