#include "runtime/language/planner.h"

#include <gtest/gtest.h>

#include "runtime/language/testing.h"

namespace aicf::language {
namespace {

using Indices = std::vector<size_t>;

/// A request whose prompt is all it has, and that has not been seen yet.
RequestView Waiting(int64_t prompt) { return {prompt, prompt, 0, 0, 0, false}; }

/// One that has drawn a token and decodes, with exactly the pages of its positions.
RequestView Decoding(int64_t known, int64_t page = 4) {
  return {known - 1, known, known - 1, (known - 1 + page - 1) / page, 0, true};
}

struct Case {
  PlannerOptions options = {};
  int64_t free_pages = 40, free_slots = 8, in_a_row = 0;
};

RunPlan PlanFor(const std::vector<RequestView>& views, const Case& c = {}) {
  RunPlan plan;
  Planner(SmallLayout(), c.options).Plan(views, c.free_pages, c.free_slots, c.in_a_row, &plan);
  return plan;
}

Indices Rows(const RunPlan& plan) {
  Indices out;
  for (const RowWork& row : plan.rows) out.push_back(row.request);
  return out;
}

TEST(Planner, DoesNothingWithoutRequests) { EXPECT_EQ(PlanFor({}).kind, RunKind::kNone); }

TEST(Planner, PrefillsWithTheSmallestBucketThatHoldsTheRest) {
  for (const auto& [prompt, rows] : {std::pair{2, 4}, {4, 4}, {5, 16}, {16, 16}}) {
    const RunPlan plan = PlanFor({Waiting(prompt)});
    ASSERT_EQ(plan.kind, RunKind::kPrefill);
    EXPECT_EQ(plan.bucket.rows, rows) << prompt;
    EXPECT_EQ(plan.admitted, Indices{0});
    ASSERT_EQ(plan.rows.size(), 1u);
    EXPECT_EQ(plan.rows[0].origin, 0);
    EXPECT_EQ(plan.rows[0].count, prompt);
    EXPECT_TRUE(plan.rows[0].Draws(Waiting(prompt)));
  }
}

TEST(Planner, CutsALongPromptIntoChunksOfTheLargest) {
  RequestView view = Waiting(35);
  std::vector<std::pair<int64_t, int64_t>> chunks;
  while (view.cached < view.known) {
    const RunPlan plan = PlanFor({view});
    ASSERT_EQ(plan.kind, RunKind::kPrefill);
    ASSERT_EQ(plan.rows[0].origin, view.cached);
    chunks.emplace_back(plan.bucket.rows, plan.rows[0].count);
    EXPECT_EQ(plan.rows[0].Draws(view), view.cached + plan.rows[0].count == 35);
    view.cached += plan.rows[0].count;
    view.admitted = true;
    view.pages = 9;
  }
  EXPECT_EQ(chunks, (decltype(chunks){{16, 16}, {16, 16}, {4, 3}}));
}

TEST(Planner, ChunksCostRowsAndRuns) {
  Layout layout = SmallLayout();
  layout.context = layout.pages * layout.page;
  layout.prefill = {{0, 1, 32}, {1, 1, 256}};
  const auto bucket_for = [&](int64_t prompt, int64_t run_cost_rows) {
    layout.run_cost_rows = run_cost_rows;
    RunPlan plan;
    const RequestView view = Waiting(prompt);
    Planner(layout, {}).Plan({&view, 1}, 40, 8, 0, &plan);
    return plan.bucket.rows;
  };
  EXPECT_EQ(bucket_for(37, 8), 32) << "64 rows and two runs, instead of 256 rows";
  EXPECT_EQ(bucket_for(37, 256), 256) << "where a run costs as much as its rows";
  EXPECT_EQ(bucket_for(150, 8), 32) << "160 rows and five runs, instead of 256";
  EXPECT_EQ(bucket_for(160, 64), 256);
}

// What the cheapest chunks for 0 to `most` positions cost, by trying each bucket as the last one.
std::vector<int64_t> LeastCosts(const Layout& layout, size_t most) {
  std::vector<int64_t> least(1, 0);
  while (least.size() <= most) {
    const auto positions = static_cast<int64_t>(least.size());
    int64_t best = int64_t{1} << 40;
    for (const Bucket& b : layout.prefill) {
      const auto rest = static_cast<size_t>(std::max<int64_t>(0, positions - b.rows));
      best = std::min(best, least[rest] + b.rows + layout.run_cost_rows);
    }
    least.push_back(best);
  }
  return least;
}

int64_t PlannedCost(const Layout& layout, int64_t prompt) {
  RequestView view = Waiting(prompt);
  int64_t cost = 0;
  while (view.cached < prompt) {
    RunPlan plan;
    Planner(layout, {.batch_invariant = true}).Plan({&view, 1}, prompt, 8, 0, &plan);
    if (plan.kind != RunKind::kPrefill) return -1;
    view.cached += plan.rows[0].count;
    cost += plan.bucket.rows + layout.run_cost_rows;
  }
  return cost;
}

TEST(Planner, ChunksOfSeveralBucketsAreTheCheapest) {
  const std::vector<std::vector<Bucket>> buckets = {
      {{0, 1, 8}, {1, 1, 16}, {2, 1, 32}, {3, 1, 64}, {4, 1, 128}, {5, 1, 512}},
      {{0, 1, 8}, {1, 1, 32}, {2, 1, 128}},
      {{0, 1, 16}, {1, 1, 128}}};
  Layout layout = SmallLayout();
  layout.page = 1;
  layout.context = layout.pages = 2000;
  for (const std::vector<Bucket>& some : buckets) {
    for (const int64_t run_cost_rows : {0, 16, 256}) {
      layout.prefill = some;
      layout.run_cost_rows = run_cost_rows;
      const std::vector<int64_t> least = LeastCosts(layout, 700);
      for (int64_t prompt = 1; prompt <= 700; ++prompt) {
        ASSERT_EQ(PlannedCost(layout, prompt), least[static_cast<size_t>(prompt)])
            << prompt << " positions, a run costs " << run_cost_rows;
      }
    }
  }
}

TEST(Planner, OnePositionIsDecodedWithTheOthers) {
  const RunPlan plan = PlanFor({Waiting(1), Decoding(9)});
  EXPECT_EQ(plan.kind, RunKind::kDecode);
  EXPECT_EQ(Rows(plan), (Indices{0, 1}));
  EXPECT_EQ(plan.rows[0].origin, 0);
  EXPECT_EQ(plan.bucket.requests, 4) << "the smallest that holds two";
}

TEST(Planner, DecodesTakeTurnsWithPrefills) {
  const std::vector<RequestView> views = {Decoding(9), Waiting(20)};
  EXPECT_EQ(PlanFor(views, {.in_a_row = 3}).kind, RunKind::kPrefill);
  EXPECT_EQ(PlanFor(views, {.in_a_row = 4}).kind, RunKind::kDecode);
  EXPECT_EQ(PlanFor({Waiting(20)}, {.in_a_row = 4}).kind, RunKind::kPrefill) << "nobody waits";
}

TEST(Planner, MoreThanTheLargestBucketTakeTurns) {
  std::vector<RequestView> views(11, Decoding(9));
  for (size_t i = 0; i < views.size(); ++i) views[i].last_run = i < 8 ? 5 : 4;
  EXPECT_EQ(Rows(PlanFor(views, {.free_slots = 0})), (Indices{0, 1, 2, 3, 4, 8, 9, 10}));
}

TEST(Planner, NobodyOvertakesARequestThatWaitsForPages) {
  const RunPlan plan = PlanFor({Decoding(9), Waiting(30), Waiting(2)}, {.free_pages = 8});
  EXPECT_TRUE(plan.admitted.empty()) << "it takes 8 pages, and the other may need one more";
  EXPECT_EQ(Rows(plan), Indices{0});
  EXPECT_EQ(PlanFor({Decoding(9), Waiting(30)}, {.free_pages = 9}).admitted, Indices{1});
}

TEST(Planner, AdmitsNoMoreThanThereAreSlots) {
  const RunPlan plan = PlanFor({Waiting(2), Waiting(2), Waiting(2)}, {.free_slots = 2});
  EXPECT_EQ(plan.admitted, (Indices{0, 1}));
}

TEST(Planner, TheYoungestGivesItsPagesToAnOlderOne) {
  const RunPlan plan = PlanFor({Decoding(9), Decoding(10), Decoding(10)}, {.free_pages = 0});
  EXPECT_EQ(plan.preempted, Indices{2});
  EXPECT_EQ(Rows(plan), (Indices{0, 1})) << "the first takes a page of it, the second needs none";
}

TEST(Planner, TheYoungestGivesUpItsOwnPages) {
  const RunPlan plan = PlanFor({Decoding(10), Decoding(9)}, {.free_pages = 0});
  EXPECT_EQ(plan.preempted, Indices{1});
  EXPECT_EQ(Rows(plan), Indices{0});
}

TEST(Planner, OthersRunWhereAllThatWereChosenLostTheirPages) {
  std::vector<RequestView> views(9, Decoding(10));
  views.back() = Decoding(9);
  for (RequestView& view : views) view.last_run = 5;
  views.back().last_run = 4;
  Layout layout = SmallLayout();
  layout.decode = {{2, 1, 1}};
  RunPlan plan;
  Planner(layout, {}).Plan(views, 0, 0, 0, &plan);
  EXPECT_EQ(plan.preempted, Indices{8});
  EXPECT_EQ(Rows(plan), Indices{0});
}

TEST(Planner, APrefillGivesItsPagesToo) {
  RequestView prefilling = Waiting(30);
  prefilling.admitted = true;
  prefilling.pages = 8;
  const RunPlan plan = PlanFor({Decoding(9), prefilling}, {.free_pages = 0, .in_a_row = 4});
  EXPECT_EQ(plan.preempted, Indices{1});
  EXPECT_EQ(Rows(plan), Indices{0});
}

TEST(Planner, BatchInvariantRunsFollowFromTheRequestAlone) {
  const Case invariant{.options = {.batch_invariant = true}};
  EXPECT_EQ(PlanFor({Waiting(1)}, invariant).kind, RunKind::kPrefill);
  EXPECT_EQ(PlanFor({Decoding(9)}, invariant).bucket.requests, 8);
  // One that lost its pages: its prompt in the same chunks as before, what it drew one by one.
  RequestView again{18, 25, 0, 0, 0, false};
  RunPlan plan = PlanFor({again}, invariant);
  EXPECT_EQ(plan.rows[0].count, 16);
  again = {18, 25, 16, 7, 0, true};
  plan = PlanFor({again}, invariant);
  EXPECT_EQ(plan.rows[0].count, 2);
  EXPECT_FALSE(plan.rows[0].Draws(again));
  again.cached = 18;
  plan = PlanFor({again}, invariant);
  EXPECT_EQ(plan.kind, RunKind::kDecode);
  EXPECT_FALSE(plan.rows[0].Draws(again));
  again.cached = 24;
  EXPECT_TRUE(PlanFor({again}, invariant).rows[0].Draws(again));
}

}  // namespace
}  // namespace aicf::language
