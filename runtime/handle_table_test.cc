#include "runtime/handle_table.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

namespace aicf {
namespace {

TEST(HandleTable, FindsWhatWasInsertedAndNothingElse) {
  HandleTable<int> table(7);
  const uint64_t a = table.Insert(std::make_shared<int>(1));
  const uint64_t b = table.Insert(std::make_shared<int>(2));
  EXPECT_EQ(*table.Find(a), 1);
  EXPECT_EQ(*table.Find(b), 2);
  for (uint64_t wrong : {uint64_t{0}, uint64_t{1}, a + 100, a ^ (uint64_t{1} << 32), ~uint64_t{0},
                         a ^ (uint64_t{1} << 60), a & 0xffffffffu}) {
    EXPECT_EQ(table.Find(wrong), nullptr) << wrong;
    EXPECT_EQ(table.Remove(wrong), nullptr) << wrong;
  }
  EXPECT_EQ(*table.Find(a), 1);
}

TEST(HandleTable, AHandleIsDeadAfterItsRemovalEvenWhenTheSlotIsUsedAgain) {
  HandleTable<int> table(7);
  std::set<uint64_t> seen;
  for (int i = 0; i < 1000; ++i) {
    const uint64_t handle = table.Insert(std::make_shared<int>(i));
    EXPECT_TRUE(seen.insert(handle).second);
    EXPECT_EQ(*table.Remove(handle), i);
    EXPECT_EQ(table.Remove(handle), nullptr);
    EXPECT_EQ(table.Find(handle), nullptr);
  }
}

TEST(HandleTable, HandlesOfOtherTablesAreUnknown) {
  HandleTable<int> programs(1);
  HandleTable<int> sessions(2);
  const uint64_t program = programs.Insert(std::make_shared<int>(1));
  const uint64_t session = sessions.Insert(std::make_shared<int>(2));
  EXPECT_EQ(sessions.Find(program), nullptr);
  EXPECT_EQ(programs.Remove(session), nullptr);
}

TEST(HandleTable, OneOfManyRemovalsWins) {
  HandleTable<int> table(3);
  for (int round = 0; round < 50; ++round) {
    const uint64_t handle = table.Insert(std::make_shared<int>(round));
    std::atomic<int> removed{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] { removed += table.Remove(handle) != nullptr; });
    }
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(removed, 1);
  }
}

}  // namespace
}  // namespace aicf
