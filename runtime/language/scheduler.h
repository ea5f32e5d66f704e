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
  std::vector<Sequence*> sequences;  ///< by row; null: released, and the row's result is dropped
  std::vector<int32_t> tokens;       ///< one for each row of the bucket, for the run to fill

  /// Whether the sequences of all rows have been released.
  bool InVain() const;
};

/// Has one run under way, or two, the second of which was planned before the first one's tokens
/// were known. Runs execute in the order in which they were planned, so that pages and slots of a
/// released sequence can be given to another one at once: whatever a run under way still writes
/// there comes before what the next owner writes, and the next owner reads only what it has written
/// itself.
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

  /// The same for the run after the one that is under way. Assumes that no sequence ends before it
  /// has its most_tokens. A token that is not known yet is given as -1, for which the model takes
  /// the token that the slot sampled last. False, and nothing is changed, where there is nothing to
  /// run, or where the plan may depend on what is not known yet, because a sequence would lose its
  /// pages, or because one ends while another waits for its place. REQUIRES: one run is under way.
  /// Errors: as Prepare.
  Result<bool> PrepareAhead(std::span<Sequence* const> sequences);

  size_t under_way() const { return under_way_; }
  /// REQUIRE: a run is under way.
  ScheduledRun& oldest() { return runs_[oldest_]; }
  const ScheduledRun& newest() const { return runs_[(oldest_ + under_way_ - 1) % runs_.size()]; }
  /// The metas of the newest run.
  const RunMetas& metas() const { return metas_; }

  /// To be called when the oldest run is done: advances the sequences that took part, and appends
  /// the tokens that were drawn. `drawn` receives the sequences that drew one, in the order of
  /// submission. Errors: kInternal for a token outside the vocabulary; then no sequence is changed.
  /// In any case the run is no longer under way.
  Status Commit(std::vector<Sequence*>* drawn);
  /// Drop a run without its results, as if it had not been made. REQUIRE: a run is under way.
  void DropOldest();
  void DropNewest() { --under_way_; }

  /// Takes the sequence's slot and pages back. It can be scheduled again, and then computes all its
  /// positions anew. What runs under way compute for it is dropped.
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
  std::vector<int32_t> free_slots_;  ///< the last one is given away next
  int64_t committed_ = 0;            ///< number of runs
  int64_t prefills_in_a_row_ = 0;    ///< among committed runs, since the last decode
  std::array<ScheduledRun, 2> runs_;
  size_t oldest_ = 0, under_way_ = 0;
  // Kept between runs for their memory.
  std::vector<RequestView> views_;
  std::vector<size_t> viewed_;  ///< the sequence of each view
  RunMetas metas_;
};

}  // namespace aicf::language
