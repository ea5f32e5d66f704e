#include "compiler/passes/plan/gathering.h"

#include <gtest/gtest.h>

namespace aicf {
namespace {

// Plans for sm_90a count on 132 multiprocessors, each with room for 2048 threads and 228 KiB of
// shared memory. The kernel before fills them, unless it has fewer blocks.
double Of(uint32_t blocks, uint32_t threads, uint32_t shared_bytes = 0, uint32_t before = 132) {
  abi::LaunchConfig launch, full;
  full.grid[0] = before;
  launch.grid[0] = blocks;
  launch.block[0] = threads;
  launch.dynamic_shared_bytes = shared_bytes;
  return Gathering(launch, full, *abi::FindDevice("cuda:sm_90a"));
}

TEST(Gathering, OneBlockCannotGather) {
  EXPECT_EQ(Of(1, 64), 1);
  EXPECT_EQ(Of(0, 0), 1);
}

TEST(Gathering, AsManyAsThereAreBlocks) { EXPECT_EQ(Of(3, 64), 3); }

TEST(Gathering, ThreadsLimitIt) {
  EXPECT_EQ(Of(132, 1024), 2);
  EXPECT_EQ(Of(132, 128), 16);
  EXPECT_EQ(Of(132, 32), 32) << "no multiprocessor has more than 32 blocks";
}

TEST(Gathering, SharedMemoryLimitsIt) {
  EXPECT_EQ(Of(132, 128, 200 * 1024), 1);
  EXPECT_EQ(Of(132, 128, 100 * 1024), 2);
}

TEST(Gathering, CountsAgainstAnEvenSpread) {
  EXPECT_EQ(Of(264, 128, 100 * 1024), 1) << "two for each multiprocessor already";
  EXPECT_EQ(Of(133, 128), 8) << "one multiprocessor has two";
  EXPECT_EQ(Of(100000, 128), 1) << "more than there is room for at once";
}

TEST(Gathering, SpreadsOverWhatIsEmpty) {
  EXPECT_EQ(Of(48, 128, 0, 24), 1) << "108 are empty";
  EXPECT_EQ(Of(128, 128, 0, 66), 2) << "66 are empty";
  EXPECT_EQ(Of(128, 128, 0, 120), 11) << "12 are empty";
  EXPECT_EQ(Of(128, 128, 60 * 1024, 120), 3) << "with room for three each";
}

TEST(Gathering, AllThreeExtentsCount) {
  abi::LaunchConfig launch;
  launch.grid[0] = launch.grid[1] = 2;
  launch.grid[2] = 33;
  launch.block[0] = 8;
  launch.block[1] = launch.block[2] = 4;
  EXPECT_EQ(Gathering(launch, launch, *abi::FindDevice("cuda:sm_90a")), 16);
}

}  // namespace
}  // namespace aicf
