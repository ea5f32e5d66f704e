/// Keeps track of the free bytes of an arena while buffers come and go, so that first-fit placement
/// finds room without walking over everything that is placed.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>

namespace aicf {

/// An arena without an end. At first all of it is free.
class FreeSpace {
 public:
  FreeSpace();
  /// Takes the lowest bytes that fit, and gives their offset. REQUIRES: bytes > 0, sums below 2^63.
  uint64_t Take(uint64_t bytes);
  /// Gives back what Take gave.
  void Give(uint64_t offset, uint64_t bytes);

 private:
  void Add(uint64_t offset, uint64_t bytes);
  void Remove(std::map<uint64_t, uint64_t>::iterator gap);
  uint64_t LowestOf(uint64_t bytes) const;

  std::map<uint64_t, uint64_t> gaps_;                // bytes by offset, none next to another
  std::array<std::set<uint64_t>, 65> offsets_ = {};  // of gaps, by the bit width of their bytes
};

}  // namespace aicf
