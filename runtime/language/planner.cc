#include "runtime/language/planner.h"

#include <algorithm>
#include <tuple>

namespace aicf::language {
namespace {

bool Contains(const std::vector<size_t>& requests, size_t request) {
  return std::ranges::find(requests, request) != requests.end();
}

/// The smallest decode bucket that holds `requests`. REQUIRES: the largest does.
const Bucket& Smallest(const std::vector<Bucket>& buckets, int64_t requests) {
  const auto fits = [&](const Bucket& bucket) { return bucket.requests >= requests; };
  return *std::ranges::find_if(buckets, fits);
}

/// Chunks that together cover some positions: what they cost, how many they are, and the first.
struct Chunks {
  int64_t cost = 0;
  int64_t count = 0;
  const Bucket* first = nullptr;

  bool IsBetterThan(const Chunks& other) const {
    return std::tie(cost, count) < std::tie(other.cost, other.count);
  }
};

/// The cheapest chunks for `missing` positions; of equally cheap ones the fewest. Either the
/// largest bucket is not used, or it is used as often as it is filled and smaller ones take the
/// rest, or it takes the rest as well. `buckets` is not empty; there are few of them.
Chunks Cheapest(std::span<const Bucket> buckets, int64_t run_cost_rows, int64_t missing) {
  const Bucket& largest = buckets.back();
  const std::span<const Bucket> smaller = buckets.first(buckets.size() - 1);
  const auto of_largest = [&](int64_t count) {
    return Chunks{count * (largest.rows + run_cost_rows), count, &largest};
  };
  const int64_t filled = missing / largest.rows, rest = missing % largest.rows;
  Chunks best = of_largest(filled + (rest > 0 ? 1 : 0));
  if (smaller.empty()) return best;
  if (filled > 0 && rest > 0) {
    Chunks mixed = of_largest(filled);
    const Chunks last = Cheapest(smaller, run_cost_rows, rest);
    mixed.cost += last.cost;
    mixed.count += last.count;
    if (mixed.IsBetterThan(best)) best = mixed;
  }
  const Chunks others = Cheapest(smaller, run_cost_rows, missing);
  return others.IsBetterThan(best) ? others : best;
}

/// The request takes part in the run that is being planned.
bool Runs(std::span<const RequestView> views, const RunPlan& plan, size_t request) {
  return (views[request].admitted || Contains(plan.admitted, request)) &&
         !Contains(plan.preempted, request);
}

/// Drops all rows but the `most` that have waited longest, and leaves them in order of submission.
void KeepLongestWaiting(std::span<const RequestView> views, size_t most,
                        std::vector<RowWork>* rows) {
  if (rows->size() <= most) return;
  const auto age = [&](const RowWork& row) {
    return std::make_tuple(views[row.request].last_run, row.request);
  };
  std::ranges::sort(*rows, {}, age);
  rows->resize(most);
  std::ranges::sort(*rows, {}, &RowWork::request);
}

}  // namespace

/// What is left while a plan is made.
struct Planner::Budget {
  int64_t pages = 0;
  int64_t slots = 0;
  int64_t running = 0;  ///< requests with a slot
};

void RunPlan::Reserve(size_t requests) {
  preempted.reserve(requests);
  admitted.reserve(requests);
  rows.reserve(requests);
}

bool Planner::Prefills(const RequestView& view) const {
  if (options_.batch_invariant) return view.cached < view.prompt;
  return view.known - view.cached > 1;
}

/// Gives waiting requests a slot and pages. While others run, a page for each of them must stay
/// free to grow by: otherwise the request that is admitted would be preempted at once.
void Planner::Admit(std::span<const RequestView> views, Budget* budget, RunPlan* plan) const {
  for (size_t i = 0; i < views.size() && budget->slots > 0; ++i) {
    if (views[i].admitted) continue;
    const auto pages = static_cast<int64_t>(layout_.PagesFor(views[i].known));
    if (pages + budget->running > budget->pages) return;
    plan->admitted.push_back(i);
    budget->pages -= pages;
    --budget->slots;
    ++budget->running;
  }
}

void Planner::PlanPrefill(std::span<const RequestView> views, size_t request, RunPlan* plan) const {
  const RequestView& view = views[request];
  const int64_t end = options_.batch_invariant ? view.prompt : view.known;
  const int64_t missing = end - view.cached;
  plan->kind = RunKind::kPrefill;
  plan->bucket = *Cheapest(layout_.prefill, layout_.run_cost_rows, missing).first;
  plan->rows.push_back({request, view.cached, std::min(missing, plan->bucket.rows)});
}

/// Makes sure that `request` has a page for its next position; false where it lost its own.
bool Planner::MakeRoom(std::span<const RequestView> views, size_t request, Budget* budget,
                       RunPlan* plan) const {
  const RequestView& view = views[request];
  const auto needed = static_cast<int64_t>(layout_.PagesFor(view.cached + 1));
  // What was admitted just now has pages for all it knows.
  if (!view.admitted || needed <= view.pages) return true;
  for (size_t youngest = views.size(); budget->pages == 0;) {
    while (!Runs(views, *plan, --youngest)) {
    }
    plan->preempted.push_back(youngest);
    budget->pages += views[youngest].pages;
    if (youngest == request) return false;
  }
  --budget->pages;
  return true;
}

void Planner::PlanDecode(std::span<const RequestView> views, Budget* budget, RunPlan* plan) const {
  const auto most = static_cast<size_t>(layout_.decode.back().requests);
  for (size_t i = 0; i < views.size(); ++i) {
    if (Runs(views, *plan, i) && !Prefills(views[i])) plan->rows.push_back({i, views[i].cached, 1});
  }
  KeepLongestWaiting(views, most, &plan->rows);
  size_t kept = 0;
  for (const RowWork& row : plan->rows) {
    if (!Runs(views, *plan, row.request)) continue;  // lost its pages to an older one
    if (MakeRoom(views, row.request, budget, plan)) plan->rows[kept++] = row;
  }
  plan->rows.resize(kept);
  if (kept == 0) return;
  plan->kind = RunKind::kDecode;
  plan->bucket = options_.batch_invariant ? layout_.decode.back()
                                          : Smallest(layout_.decode, static_cast<int64_t>(kept));
}

void Planner::Plan(std::span<const RequestView> views, int64_t free_pages, int64_t free_slots,
                   int64_t in_a_row, RunPlan* plan) const {
  plan->preempted.clear();
  plan->admitted.clear();
  plan->rows.clear();
  plan->kind = RunKind::kNone;
  Budget budget{free_pages, free_slots, std::ranges::count_if(views, &RequestView::admitted)};
  Admit(views, &budget, plan);
  size_t prefill = views.size();  // the oldest that prefills
  bool decodes = false;
  for (size_t i = views.size(); i-- > 0;) {
    if (!Runs(views, *plan, i)) continue;
    if (Prefills(views[i])) {
      prefill = i;
    } else {
      decodes = true;
    }
  }
  const bool may_prefill = prefill < views.size();
  if (may_prefill && (!decodes || in_a_row < options_.prefills_in_a_row)) {
    return PlanPrefill(views, prefill, plan);
  }
  // Where all rows that were chosen have lost their pages, other requests can run with these pages,
  // so a decode is planned once more.
  for (size_t lost = views.size(); decodes && lost != plan->preempted.size();) {
    lost = plan->preempted.size();
    PlanDecode(views, &budget, plan);
    if (plan->kind != RunKind::kNone) return;
  }
  if (may_prefill && Runs(views, *plan, prefill)) PlanPrefill(views, prefill, plan);
}

}  // namespace aicf::language
