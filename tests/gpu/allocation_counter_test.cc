#include "tests/gpu/allocation_counter.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <thread>

namespace aicf::gpu {
namespace {

TEST(AllocationCounter, CountsEveryKindOfTheCallingThreadsAllocations) {
#if defined(AICF_SANITIZED) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer brings its own allocator";
#endif
  volatile int sink = 0;
  uint64_t counts[5] = {};
  {
    const AllocationCounter counter;
    counts[0] = counter.count();
    delete new volatile int(1);
    counts[1] = counter.count();
    void* block = std::calloc(3, 4);
    sink = sink + (block != nullptr);
    counts[2] = counter.count();
    block = std::realloc(block, 4096);
    counts[3] = counter.count();
    std::free(block);
    const std::string text(100, 'x');
    sink = sink + text[5];
    counts[4] = counter.count();
  }
  for (uint64_t i = 0; i < 5; ++i) EXPECT_EQ(counts[i], i);
}

TEST(AllocationCounter, OtherThreadsAndTimesAreNotCounted) {
  std::string before(100, 'a');
  uint64_t count = 0;
  std::thread other([] {
    for (int i = 0; i < 100; ++i) std::string(100 + i, 'y');
  });
  {
    const AllocationCounter counter;
    other.join();
    count = counter.count();
  }
  EXPECT_EQ(count, 0u);
}

}  // namespace
}  // namespace aicf::gpu
