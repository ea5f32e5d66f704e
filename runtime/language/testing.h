/// A language model that is a pure function of the tokens that it reads back through the page
/// tables, so that a wrong page, origin or length gives wrong tokens. Tests only.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/language/runner.h"

namespace aicf::language {

inline Layout SmallLayout() {
  Layout layout;
  layout.prefill = {{0, 1, 4}, {1, 1, 16}};
  layout.decode = {{2, 1, 1}, {3, 4, 1}, {4, 8, 1}};
  layout.vocabulary = 97;
  layout.context = 60;
  layout.page = 4;
  layout.pages = 40;
  layout.table_pages = 15;
  layout.slots = 8;
  return layout;
}

inline uint64_t Mix(uint64_t state, uint64_t value) {
  state ^= value + 0x9e3779b97f4a7c15u + (state << 6) + (state >> 2);
  state *= 0xff51afd7ed558ccdu;
  return state ^ (state >> 33);
}

/// What the model sees of one position.
struct CacheCell {
  int32_t token = -1;
  int64_t position = -1;
  size_t entry = 0;  ///< that wrote it
};

/// The token after the last of `cells`. `entry` counts only where the model's arithmetic is to
/// depend on the bucket, as that of real kernels may.
inline int32_t NextToken(std::span<const CacheCell> cells, const DrawOptions& draw,
                         int64_t vocabulary, bool sees_entries, size_t entry) {
  uint64_t state = Mix(17, static_cast<uint64_t>(draw.seed));
  state = Mix(state, static_cast<uint64_t>(draw.temperature * 1000));
  state = Mix(state, static_cast<uint64_t>(draw.top_k));
  state = Mix(state, static_cast<uint64_t>(draw.top_p * 1000));
  state = Mix(state, static_cast<uint64_t>(draw.min_p * 1000));
  for (const CacheCell& cell : cells) {
    state =
        Mix(Mix(state, static_cast<uint64_t>(cell.token)), static_cast<uint64_t>(cell.position));
    if (sees_entries) state = Mix(state, cell.entry);
  }
  if (sees_entries) state = Mix(state, entry);
  return static_cast<int32_t>(state % static_cast<uint64_t>(vocabulary));
}

/// The same from tokens alone: what a request must draw, whatever happens around it.
inline std::vector<uint32_t> Expected(std::vector<uint32_t> history, size_t count,
                                      const DrawOptions& draw, int64_t vocabulary) {
  std::vector<uint32_t> drawn;
  std::vector<CacheCell> cells;
  for (size_t i = 0; i < history.size() + drawn.size(); ++i) {
    const uint32_t token = i < history.size() ? history[i] : drawn[i - history.size()];
    cells.push_back({static_cast<int32_t>(token), static_cast<int64_t>(i), 0});
    if (i + 1 < history.size() || drawn.size() == count) continue;
    drawn.push_back(static_cast<uint32_t>(NextToken(cells, draw, vocabulary, false, 0)));
  }
  return drawn;
}

/// Whether a run may be queued behind another, and when the device then executes those that are: at
/// once, or only when somebody waits. A real one is somewhere between.
enum class Queue : uint8_t { kNone, kEager, kLate };

class FakeRunner final : public Runner {
 public:
  explicit FakeRunner(Layout layout, bool sees_entries = false, Queue queue = Queue::kNone)
      : layout_(std::move(layout)),
        sees_entries_(sees_entries),
        queue_(queue),
        cells_(static_cast<size_t>(layout_.pages * layout_.page)),
        sampled_(static_cast<size_t>(layout_.slots), -1) {}

  size_t most_under_way() const override { return queue_ == Queue::kNone ? 1 : 2; }

  Status Launch(const Bucket& bucket, const RunMetas& metas) override {
    EXPECT_LT(under_way_.size(), most_under_way());
    if (fail_launches > 0) {
      --fail_launches;
      return Status(Code::kDevice, "planted");
    }
    ++runs;
    entries.push_back(bucket.entry);
    calls += 'L';
    under_way_.push_back({bucket, metas, {}});
    if (queue_ == Queue::kEager) Execute(&under_way_.back());
    return OkStatus();
  }

  Status Collect(std::span<int32_t> tokens) override {
    if (during_run) during_run();
    if (under_way_.empty()) return Status(Code::kInternal, "no run is under way");
    calls += 'C';
    UnderWay run = std::move(under_way_.front());
    under_way_.pop_front();
    if (fail_collects > 0) {
      --fail_collects;
      return Status(Code::kDevice, "planted");
    }
    if (queue_ != Queue::kEager) Execute(&run);
    EXPECT_EQ(tokens.size(), run.tokens.size());
    std::ranges::copy(run.tokens, tokens.begin());
    return OkStatus();
  }
  MemoryReport memory() const override { return {}; }
  std::string device_name() const override { return "fake"; }
  size_t under_way() const { return under_way_.size(); }

  int64_t runs = 0;
  std::vector<size_t> entries;  ///< of all runs
  std::string calls;            ///< 'L' for each launch that succeeded, 'C' for each collect
  int fail_launches = 0;        ///< so many fail from now on
  int fail_collects = 0;
  std::function<void()> during_run;  ///< what others do meanwhile

 private:
  struct UnderWay {
    Bucket bucket;
    RunMetas metas;
    std::vector<int32_t> tokens;
  };

  void Execute(UnderWay* run) {
    run->tokens.resize(static_cast<size_t>(run->bucket.requests));
    std::vector<int32_t> pages;
    for (int64_t r = 0; r < run->bucket.requests; ++r) {
      RunRow(run->bucket, run->metas, r, &pages, run->tokens);
    }
    std::ranges::sort(pages);
    EXPECT_EQ(std::ranges::adjacent_find(pages), pages.end()) << "two requests share a page";
  }

  void ExpectIdle(const Bucket& bucket, const RunMetas& metas, size_t r) {
    EXPECT_EQ(metas.slots[r], layout_.slots) << "of an idle row";
    EXPECT_EQ(metas.origins[r], 0);
    EXPECT_EQ(metas.temperature[r], 0);
    EXPECT_EQ(metas.top_p[r], 1);
    EXPECT_EQ(bucket.requests > 1, true) << "a run with nothing to do";
    ExpectNoPlaces(metas, r * static_cast<size_t>(bucket.rows),
                   (r + 1) * static_cast<size_t>(bucket.rows));
  }

  /// Rows from `at` to `end` have no tokens, and may not go anywhere in the cache.
  void ExpectNoPlaces(const RunMetas& metas, size_t at, size_t end) {
    for (; at < end; ++at) EXPECT_GE(metas.places[2 * at], layout_.pages) << "row " << at;
  }

  CacheCell& Cell(const RunMetas& metas, int64_t row, int64_t position) {
    const int64_t page =
        metas.pages[static_cast<size_t>(row * layout_.table_pages + position / layout_.page)];
    return cells_.at(static_cast<size_t>(page * layout_.page + position % layout_.page));
  }

  void RunRow(const Bucket& bucket, const RunMetas& metas, int64_t row, std::vector<int32_t>* pages,
              std::span<int32_t> tokens) {
    const auto r = static_cast<size_t>(row);
    tokens[r] = -7;  // what an idle row gives is nobody's business
    const int64_t origin = metas.origins[r], length = metas.lengths[r];
    if (length == 0) return ExpectIdle(bucket, metas, r);
    ASSERT_TRUE(metas.slots[r] >= 0 && metas.slots[r] < layout_.slots);
    ASSERT_TRUE(origin >= 0 && length > origin && length - origin <= bucket.rows);
    ASSERT_LE(length, layout_.context);
    for (int64_t p = origin; p < length; ++p) {
      const auto at = static_cast<size_t>(row * bucket.rows + p - origin);
      int32_t token = metas.tokens[at];
      if (token < 0) token = sampled_[static_cast<size_t>(metas.slots[r])];
      const int64_t page = metas.places[2 * at], in_page = metas.places[2 * at + 1];
      cells_.at(static_cast<size_t>(page * layout_.page + in_page)) = {token, p, bucket.entry};
    }
    ExpectNoPlaces(metas, static_cast<size_t>(row * bucket.rows + length - origin),
                   static_cast<size_t>((row + 1) * bucket.rows));
    std::vector<CacheCell> seen;
    for (int64_t p = 0; p < length; ++p) seen.push_back(Cell(metas, row, p));
    for (int64_t p = 0; p < length; p += layout_.page) {
      pages->push_back(
          metas.pages[static_cast<size_t>(row * layout_.table_pages + p / layout_.page)]);
    }
    const DrawOptions draw{metas.temperature[r], metas.top_k[r], metas.top_p[r], metas.min_p[r],
                           metas.seeds[r]};
    tokens[r] = NextToken(seen, draw, layout_.vocabulary, sees_entries_, bucket.entry);
    sampled_[static_cast<size_t>(metas.slots[r])] = tokens[r];
  }

  const Layout layout_;
  const bool sees_entries_;
  const Queue queue_;
  std::vector<CacheCell> cells_;
  std::vector<int32_t> sampled_;  ///< by slot
  std::deque<UnderWay> under_way_;
};

}  // namespace aicf::language
