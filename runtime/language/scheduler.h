/// Carries out what the planner says: slots, pages, metas, and what a run has changed.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "runtime/language/metas.h"
#include "runtime/language/page_pool.h"
#include "runtime/language/planner.h"
#include "runtime/language/sequence.h"

namespace aicf::language {

/// A run that is under way: planned, and not committed yet.
struct ScheduledRun {
  RunPlan plan;
  std::vector<Sequence*> sequences;  ///< by row; null: it was released, and the row is nobody's
  std::vector<int32_t> tokens;       ///< one for each row of the bucket, for the run to fill

  /// Whether all rows are nobody's.
  bool InVain() const;
};

/// One run, or two of which the second was planned before the first one's tokens were known. Runs
/// execute in the order of their plans, so that pages and slots of a released sequence can be given
/// to another at once: whatever a run that is under way still writes there comes before what their
/// next owner writes, who reads nothing that he has not written.
///
/// Thread safety: one call at a time. The sequences that are given stand in the order of
/// submission; one may go once it is released.
class Scheduler {
 public:
  Scheduler(const Layout& layout, const PlannerOptions& options);

  /// Room for so many sequences, so that runs allocate nothing.
  void Reserve(size_t sequences);

  /// Plans the next run, gives the sequences slots and pages and fills the metas. False: there is
  /// nothing to run. REQUIRES: no run is under way. Errors: kInternal, for a defect.
  Result<bool> Prepare(std::span<Sequence* const> sequences);

  /// The same for the run after the one that is under way: as it will be planned if none of the
  /// sequences ends before its most tokens. A token that is not known yet is -1, which the model
  /// takes for the one that the slot sampled last. False, and nothing is changed: there is nothing
  /// to run, or the plan may depend on more than that, because a sequence would lose its pages, or
  /// one ends for which another waits. REQUIRES: one run is under way. Errors: as Prepare.
  Result<bool> PrepareAhead(std::span<Sequence* const> sequences);

  size_t under_way() const { return under_way_; }
  /// REQUIRE: a run is under way.
  ScheduledRun& oldest() { return runs_[oldest_]; }
  const ScheduledRun& newest() const { return runs_[(oldest_ + under_way_ - 1) % runs_.size()]; }
  /// Those of the newest run.
  const RunMetas& metas() const { return metas_; }

  /// The oldest run is done: moves on what took part, and appends the tokens that were drawn.
  /// `drawn` takes their sequences, in the order of submission. Errors: kInternal for a token
  /// outside the vocabulary; no sequence is changed. The run is under way no more in any case.
  Status Commit(std::vector<Sequence*>* drawn);
  /// As if the run had not been. REQUIRE: a run is under way.
  void DropOldest();
  void DropNewest() { --under_way_; }

  /// Takes slot and pages back; the sequence can be scheduled again and computes all positions.
  /// Its rows of runs that are under way are nobody's.
  Status Release(Sequence* sequence);

  int64_t free_pages() const { return pool_.free(); }

 private:
  ScheduledRun& next() { return runs_[(oldest_ + under_way_) % runs_.size()]; }
  int64_t FreeSlots() const { return static_cast<int64_t>(free_slots_.size()); }
  bool LookAhead(std::span<Sequence* const> sequences);
  Status Apply(std::span<Sequence* const> sequences, const RunPlan& plan);
  Status FillMetas(const ScheduledRun& run);
  Result<bool> Begin(std::span<Sequence* const> sequences);
  Status CheckTokens(const ScheduledRun& run) const;

  Planner planner_;
  PagePool pool_;
  std::vector<int32_t> free_slots_;  ///< the next one last
  int64_t committed_ = 0;            ///< runs
  int64_t prefills_in_a_row_ = 0;    ///< of those that are committed
  std::array<ScheduledRun, 2> runs_;
  size_t oldest_ = 0, under_way_ = 0;
  // Kept between runs for their memory.
  std::vector<RequestView> views_;
  std::vector<size_t> viewed_;  ///< the sequence of each view
  RunMetas metas_;
};

}  // namespace aicf::language
