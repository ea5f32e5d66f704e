/// Which requests the next run works on: a pure function of numbers, so that it can be tested
/// without a device, and the same state always gives the same run.
///
/// The rules, in this order:
///  1. A request takes part once it has a slot and pages for all it has so far. Requests get them
///     in the order in which they were submitted, and none overtakes another, so none starves.
///  2. A request that lacks more than one position in the cache is prefilled, in those chunks that
///     together are cheapest, the largest first: each one costs its bucket's rows, filled or not,
///     and Layout::run_cost_rows. All others decode one position, as many at once as the
///     largest bucket has rows.
///  3. Prefills go first, because they make decodes larger, but no more than `prefills_in_a_row` of
///     them while a request waits for its next token.
///  4. A decoding request that needs a page when none is free takes the pages of the youngest
///     request, which then waits again and computes its positions once more later. The oldest never
///     loses its pages, and a request alone always has enough, so every request ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/language/layout.h"

namespace aicf::language {

/// One request that is not finished, as the planner sees it.
struct RequestView {
  int64_t prompt = 0;     ///< tokens that were submitted, at least 1
  int64_t known = 0;      ///< tokens so far: the prompt's and those drawn
  int64_t cached = 0;     ///< positions that the cache has, always fewer than known
  int64_t pages = 0;      ///< pages that it has
  int64_t last_run = 0;   ///< number of the last run that it was part of
  bool admitted = false;  ///< it has a slot
};

struct PlannerOptions {
  /// The runs of a request depend on nothing but the request: its prompt is prefilled in chunks
  /// that follow from its length, and the tokens that it drew are decoded in the largest bucket,
  /// even after it has lost its pages.
  bool batch_invariant = false;
  int64_t prefills_in_a_row = 4;
};

/// What one request does in a run.
struct RowWork {
  size_t request = 0;  ///< index into the views
  int64_t origin = 0;  ///< first position
  int64_t count = 0;   ///< positions that get a token, from there on

  /// Whether the token that the run draws is the request's next one.
  bool Draws(const RequestView& view) const { return origin + count == view.known; }
};

enum class RunKind : uint8_t { kNone, kPrefill, kDecode };

/// What to do, in the order of the members.
struct RunPlan {
  std::vector<size_t> preempted;  ///< lose slot and pages; their cached counts as 0 from here on
  std::vector<size_t> admitted;   ///< get a slot, and pages for all they know
  RunKind kind = RunKind::kNone;
  Bucket bucket;              ///< unless kNone
  std::vector<RowWork> rows;  ///< rows of the bucket, each with pages for origin + count; the rest
                              ///< of the bucket is idle

  /// Room for `requests`, so that planning allocates nothing.
  void Reserve(size_t requests);
};

class Planner {
 public:
  Planner(Layout layout, PlannerOptions options) : layout_(std::move(layout)), options_(options) {}

  /// `views` stand in the order of submission, `free_pages` and `free_slots` are what no request
  /// has. `in_a_row`: prefills since the last decode. Fills `plan`. Cost: linear in the requests
  /// but for sorting those that decode; allocates nothing once `plan` has room.
  void Plan(std::span<const RequestView> views, int64_t free_pages, int64_t free_slots,
            int64_t in_a_row, RunPlan* plan) const;

  const Layout& layout() const { return layout_; }
  const PlannerOptions& options() const { return options_; }

 private:
  struct Budget;
  bool Prefills(const RequestView& view) const;
  void Admit(std::span<const RequestView> views, Budget* budget, RunPlan* plan) const;
  void PlanPrefill(std::span<const RequestView> views, size_t request, RunPlan* plan) const;
  void PlanDecode(std::span<const RequestView> views, Budget* budget, RunPlan* plan) const;
  bool MakeRoom(std::span<const RequestView> views, size_t request, Budget* budget,
                RunPlan* plan) const;

  Layout layout_;
  PlannerOptions options_;
};

}  // namespace aicf::language
