#include "compiler/plan/free_space.h"

#include <algorithm>
#include <bit>

namespace aicf {

FreeSpace::FreeSpace() { Add(0, UINT64_MAX); }

void FreeSpace::Add(uint64_t offset, uint64_t bytes) {
  gaps_.emplace(offset, bytes);
  offsets_[std::bit_width(bytes)].insert(offset);
}

void FreeSpace::Remove(std::map<uint64_t, uint64_t>::iterator gap) {
  offsets_[std::bit_width(gap->second)].erase(gap->first);
  gaps_.erase(gap);
}

// A gap whose size has more bits than `bytes` always fits, so of these the lowest one counts. Gaps
// whose size has as many bits may be too small and are looked at one by one.
uint64_t FreeSpace::LowestOf(uint64_t bytes) const {
  const auto bits = static_cast<size_t>(std::bit_width(bytes));
  uint64_t lowest = UINT64_MAX;
  for (size_t b = bits + 1; b < offsets_.size(); ++b) {
    if (!offsets_[b].empty()) lowest = std::min(lowest, *offsets_[b].begin());
  }
  for (uint64_t offset : offsets_[bits]) {
    if (offset >= lowest) break;
    if (gaps_.at(offset) >= bytes) return offset;
  }
  return lowest;
}

uint64_t FreeSpace::Take(uint64_t bytes) {
  const uint64_t offset = LowestOf(bytes);
  const auto gap = gaps_.find(offset);
  const uint64_t left = gap->second - bytes;
  Remove(gap);
  if (left > 0) Add(offset + bytes, left);
  return offset;
}

void FreeSpace::Give(uint64_t offset, uint64_t bytes) {
  const auto after = gaps_.find(offset + bytes);
  if (after != gaps_.end()) {
    bytes += after->second;
    Remove(after);
  }
  const auto next = gaps_.lower_bound(offset);
  if (next != gaps_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == offset) {
      offset = before->first;
      bytes += before->second;
      Remove(before);
    }
  }
  Add(offset, bytes);
}

}  // namespace aicf
