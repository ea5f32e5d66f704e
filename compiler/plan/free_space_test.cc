// First fit through a list of gaps: the same places as by a walk over everything that is placed.
#include "compiler/plan/free_space.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace aicf {
namespace {

struct Block {
  uint64_t offset, bytes;
};

uint64_t LowestByWalk(std::vector<Block> taken, uint64_t bytes) {
  std::ranges::sort(taken, {}, &Block::offset);
  uint64_t at = 0;
  for (const Block& b : taken) {
    if (at + bytes <= b.offset) break;
    at = std::max(at, b.offset + b.bytes);
  }
  return at;
}

TEST(FreeSpace, TakesTheLowestGapThatFits) {
  std::mt19937 random(3);
  FreeSpace space;
  std::vector<Block> taken;
  for (int i = 0; i < 20'000; ++i) {
    if (!taken.empty() && random() % 100 < 48) {
      const size_t at = random() % taken.size();
      space.Give(taken[at].offset, taken[at].bytes);
      taken.erase(taken.begin() + static_cast<std::ptrdiff_t>(at));
      continue;
    }
    const uint64_t bytes = 1 + random() % (random() % 2 == 0 ? 16 : 5'000);
    const uint64_t offset = space.Take(bytes);
    ASSERT_EQ(offset, LowestByWalk(taken, bytes)) << i;
    taken.push_back({offset, bytes});
  }
}

}  // namespace
}  // namespace aicf
