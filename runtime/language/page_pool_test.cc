#include "runtime/language/page_pool.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace aicf::language {
namespace {

TEST(PagePool, HandsOutTheLowestPagesFirst) {
  PagePool pool(3);
  std::vector<int32_t> list;
  ASSERT_TRUE(pool.Grow(2, &list));
  EXPECT_EQ(list, (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(pool.free(), 1);
  ASSERT_TRUE(pool.Grow(1, &list)) << "it has as many";
  EXPECT_EQ(list.size(), 2u);
}

TEST(PagePool, GivesAllOrNothing) {
  PagePool pool(3);
  std::vector<int32_t> a, b;
  ASSERT_TRUE(pool.Grow(2, &a));
  EXPECT_FALSE(pool.Grow(2, &b));
  EXPECT_TRUE(b.empty());
  EXPECT_EQ(pool.free(), 1);
}

TEST(PagePool, RefusesAPageThatIsFreeAlready) {
  PagePool pool(3);
  std::vector<int32_t> list;
  ASSERT_TRUE(pool.Grow(2, &list));
  std::vector<int32_t> copy = list, foreign = {7};
  ASSERT_TRUE(pool.Release(&list).ok());
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(pool.Release(&copy).code(), Code::kInternal);
  EXPECT_EQ(pool.Release(&foreign).code(), Code::kInternal);
  EXPECT_EQ(pool.free(), 3);
}

TEST(PagePool, EveryPageIsFreeOrInOneList) {
  std::mt19937 random(5);
  PagePool pool(64);
  std::vector<std::vector<int32_t>> lists(8);
  for (int step = 0; step < 5000; ++step) {
    auto& list = lists[random() % lists.size()];
    if (random() % 3 == 0) {
      ASSERT_TRUE(pool.Release(&list).ok());
    } else {
      pool.Grow(list.size() + random() % 5, &list);
    }
    std::set<int32_t> taken;
    size_t count = 0;
    for (const auto& l : lists) {
      count += l.size();
      taken.insert(l.begin(), l.end());
    }
    ASSERT_EQ(taken.size(), count);
    ASSERT_EQ(static_cast<int64_t>(count) + pool.free(), 64);
  }
}

}  // namespace
}  // namespace aicf::language
