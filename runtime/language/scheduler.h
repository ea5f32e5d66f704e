/// Carries out what the planner says: slots, pages, metas, and what a run has changed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "runtime/language/metas.h"
#include "runtime/language/page_pool.h"
#include "runtime/language/planner.h"
#include "runtime/language/sequence.h"

namespace aicf::language {

/// Thread safety: one call at a time. Between Prepare and Commit sequences may be added behind
/// those that Prepare saw; none may be removed.
class Scheduler {
 public:
  Scheduler(const Layout& layout, const PlannerOptions& options);

  /// Room for so many sequences, so that runs allocate nothing.
  void Reserve(size_t sequences);

  /// Plans the next run for `sequences`, which stand in the order of submission, gives them slots
  /// and pages and fills the metas. Errors: kInternal, for a defect.
  Status Prepare(std::span<Sequence* const> sequences);

  const RunPlan& plan() const { return plan_; }
  const RunMetas& metas() const { return metas_; }
  /// One element for each row of the bucket, for the run to fill.
  std::span<int32_t> tokens() { return tokens_; }

  /// The run is done: moves on what took part, and appends the tokens that were drawn. `drawn`
  /// takes the sequences' indices. Errors: kInternal for a token outside the vocabulary.
  Status Commit(std::span<Sequence* const> sequences, std::vector<size_t>* drawn);

  /// Takes slot and pages back; the sequence can be scheduled again and computes all positions.
  Status Release(Sequence* sequence);

  int64_t free_pages() const { return pool_.free(); }

 private:
  Status Apply(std::span<Sequence* const> sequences);
  Status FillMetas(std::span<Sequence* const> sequences);

  Planner planner_;
  PagePool pool_;
  std::vector<int32_t> free_slots_;  ///< the next one last
  int64_t runs_ = 0;
  int64_t prefills_in_a_row_ = 0;
  // Kept between runs for their memory.
  std::vector<RequestView> views_;
  RunPlan plan_;
  RunMetas metas_;
  std::vector<int32_t> tokens_;
};

}  // namespace aicf::language
