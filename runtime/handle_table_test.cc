#include "runtime/handle_table.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

namespace aicf {
namespace {

TEST(HandleTable, FindsWhatWasInsertedAndNothingElse) {
  HandleTable<int> table(7);
  const uint64_t a = table.Insert(std::make_unique<int>(1));
  const uint64_t b = table.Insert(std::make_unique<int>(2));
  EXPECT_EQ(*table.Find(a), 1);
  EXPECT_EQ(*table.Find(b), 2);
  for (uint64_t wrong : {uint64_t{0}, uint64_t{1}, a + 100, a ^ (uint64_t{1} << 32), ~uint64_t{0},
                         a ^ (uint64_t{1} << 60), a & 0xffffffffu}) {
    EXPECT_FALSE(table.Find(wrong)) << wrong;
    EXPECT_EQ(table.Remove(wrong), nullptr) << wrong;
  }
  EXPECT_EQ(*table.Find(a), 1);
}

TEST(HandleTable, AHandleIsDeadAfterItsRemovalEvenWhenTheSlotIsUsedAgain) {
  HandleTable<int> table(7);
  std::set<uint64_t> seen;
  for (int i = 0; i < 1000; ++i) {
    const uint64_t handle = table.Insert(std::make_unique<int>(i));
    EXPECT_TRUE(seen.insert(handle).second);
    EXPECT_EQ(*table.Remove(handle), i);
    EXPECT_EQ(table.Remove(handle), nullptr);
    EXPECT_FALSE(table.Find(handle));
  }
}

TEST(HandleTable, HandlesOfOtherTablesAreUnknown) {
  HandleTable<int> programs(1);
  HandleTable<int> sessions(2);
  const uint64_t program = programs.Insert(std::make_unique<int>(1));
  const uint64_t session = sessions.Insert(std::make_unique<int>(2));
  EXPECT_FALSE(sessions.Find(program));
  EXPECT_EQ(programs.Remove(session), nullptr);
}

TEST(HandleTable, ManyObjectsKeepTheirHandles) {
  HandleTable<int> table(7);
  std::vector<uint64_t> handles;
  for (int i = 0; i < 5000; ++i) handles.push_back(table.Insert(std::make_unique<int>(i)));
  for (int i = 0; i < 5000; ++i) EXPECT_EQ(*table.Find(handles[static_cast<size_t>(i)]), i);
  EXPECT_EQ(std::set<uint64_t>(handles.begin(), handles.end()).size(), 5000u);
}

TEST(HandleTable, APinHoldsOnlyItsOwnObject) {
  HandleTable<int> table(7);
  const uint64_t held = table.Insert(std::make_unique<int>(1));
  const uint64_t other = table.Insert(std::make_unique<int>(2));
  auto pin = table.Find(held);
  std::atomic<bool> removed{false};
  std::thread remover([&] {
    EXPECT_NE(table.Remove(held), nullptr);
    removed = true;
  });
  while (table.Find(held)) std::this_thread::yield();  // the removal has begun, and waits
  // Everything that concerns other objects goes on meanwhile.
  EXPECT_EQ(*table.Find(other), 2);
  EXPECT_EQ(*table.Find(table.Insert(std::make_unique<int>(3))), 3);
  EXPECT_NE(table.Remove(other), nullptr);
  EXPECT_EQ(table.Remove(held), nullptr);
  EXPECT_FALSE(removed);
  EXPECT_EQ(*pin, 1);
  pin = {};
  remover.join();
  EXPECT_TRUE(removed);
}

TEST(HandleTable, FindingRacesWithRemovingAndInserting) {
  HandleTable<std::atomic<int>> table(7);
  std::atomic<uint64_t> current{table.Insert(std::make_unique<std::atomic<int>>(42))};
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> finders;
  for (int t = 0; t < 3; ++t) {
    finders.emplace_back([&] {
      while (!stop) {
        const auto pin = table.Find(current);
        wrong += pin && *pin != 42;
      }
    });
  }
  for (int i = 0; i < 20000; ++i) {
    const std::unique_ptr<std::atomic<int>> taken = table.Remove(current);
    ASSERT_NE(taken, nullptr);
    *taken = 0;  // nobody holds it any more
    current = table.Insert(std::make_unique<std::atomic<int>>(42));
  }
  stop = true;
  for (std::thread& t : finders) t.join();
  EXPECT_EQ(wrong, 0);
}

TEST(HandleTable, OneOfManyRemovalsWins) {
  HandleTable<int> table(3);
  for (int round = 0; round < 50; ++round) {
    const uint64_t handle = table.Insert(std::make_unique<int>(round));
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
