#include "runtime/language/scheduler.h"

#include <algorithm>

namespace aicf::language {

bool ScheduledRun::InVain() const {
  return std::ranges::all_of(sequences, [](const Sequence* s) { return s == nullptr; });
}

Scheduler::Scheduler(const Layout& layout, const PlannerOptions& options)
    : planner_(layout, options), pool_(static_cast<int32_t>(layout.pages)) {
  free_slots_.reserve(static_cast<size_t>(layout.slots));
  for (auto slot = static_cast<int32_t>(layout.slots); slot-- > 0;) free_slots_.push_back(slot);
  for (ScheduledRun& run : runs_) {
    run.plan.Reserve(free_slots_.size());
    run.sequences.reserve(free_slots_.size());
    run.tokens.reserve(static_cast<size_t>(layout.decode.back().requests));
  }
  for (const auto* buckets : {&layout.prefill, &layout.decode}) {
    for (const Bucket& bucket : *buckets) metas_.Clear(layout, bucket);  // makes room for each
  }
}

void Scheduler::Reserve(size_t sequences) {
  views_.reserve(sequences);
  viewed_.reserve(sequences);
}

Status Scheduler::Release(Sequence* sequence) {
  for (ScheduledRun& run : runs_) std::ranges::replace(run.sequences, sequence, nullptr);
  if (sequence->slot >= 0) free_slots_.push_back(sequence->slot);
  sequence->slot = -1;
  sequence->cached = 0;
  return pool_.Release(&sequence->pages);
}

Status Scheduler::Apply(std::span<Sequence* const> sequences, const RunPlan& plan) {
  for (const size_t i : plan.preempted) {
    AICF_RETURN_IF_ERROR(Release(sequences[i]));
    ++sequences[i]->preemptions;
  }
  const Layout& layout = planner_.layout();
  const auto grow = [&](Sequence* sequence, int64_t positions) -> Status {
    if (pool_.Grow(layout.PagesFor(positions), &sequence->pages)) return OkStatus();
    return Error(Code::kInternal, "a run was planned with more pages than are free");
  };
  for (const size_t i : plan.admitted) {
    if (free_slots_.empty())
      return Error(Code::kInternal, "more requests run than there are slots");
    sequences[i]->slot = free_slots_.back();
    free_slots_.pop_back();
    AICF_RETURN_IF_ERROR(grow(sequences[i], sequences[i]->known()));
  }
  for (const RowWork& row : plan.rows) {
    AICF_RETURN_IF_ERROR(grow(sequences[row.request], row.origin + row.count));
  }
  return OkStatus();
}

Status Scheduler::FillMetas(const ScheduledRun& run) {
  static constexpr int32_t kSampledLast[] = {-1};
  const Layout& layout = planner_.layout();
  metas_.Clear(layout, run.plan.bucket);
  for (size_t r = 0; r < run.plan.rows.size(); ++r) {
    const RowWork& work = run.plan.rows[r];
    const Sequence& sequence = *run.sequences[r];
    MetaRow row;
    if (work.origin == sequence.known()) {
      row.tokens = kSampledLast;
    } else {
      row.tokens = std::span(sequence.history)
                       .subspan(static_cast<size_t>(work.origin), static_cast<size_t>(work.count));
    }
    row.origin = work.origin;
    row.pages = sequence.pages;
    row.slot = sequence.slot;
    row.draw = sequence.draw;
    AICF_RETURN_IF_ERROR(metas_.Set(layout, run.plan.bucket, r, row));
  }
  return OkStatus();
}

/// Carries out the next run's plan.
Result<bool> Scheduler::Begin(std::span<Sequence* const> sequences) {
  ScheduledRun& run = next();
  AICF_RETURN_IF_ERROR(Apply(sequences, run.plan));
  if (run.plan.kind == RunKind::kNone) return false;
  run.sequences.clear();
  for (const RowWork& row : run.plan.rows) run.sequences.push_back(sequences[row.request]);
  run.tokens.assign(static_cast<size_t>(run.plan.bucket.requests), 0);
  AICF_RETURN_IF_ERROR(FillMetas(run));
  ++under_way_;
  return true;
}

Result<bool> Scheduler::Prepare(std::span<Sequence* const> sequences) {
  views_.clear();
  for (const Sequence* sequence : sequences) views_.push_back(sequence->View());
  planner_.Plan(views_, pool_.free(), FreeSlots(), prefills_in_a_row_, &next().plan);
  return Begin(sequences);
}

/// Fills views_ with the sequences as the run that is under way will leave them, without those that
/// end with it. False where one ends and another one waits, which could take its place.
bool Scheduler::LookAhead(std::span<Sequence* const> sequences) {
  const ScheduledRun& run = oldest();
  views_.clear();
  viewed_.clear();
  bool ends = false, waits = false;
  for (size_t i = 0, row = 0; i < sequences.size(); ++i) {
    RequestView view = sequences[i]->View();
    while (row < run.sequences.size() && run.sequences[row] == nullptr) ++row;
    if (row < run.sequences.size() && run.sequences[row] == sequences[i]) {
      const RowWork& work = run.plan.rows[row++];
      if (work.Draws(view)) ++view.known;
      view.cached += work.count;
      view.last_run = committed_ + 1;
    }
    if (view.known >= sequences[i]->most_tokens) {
      ends = true;
      continue;
    }
    waits = waits || !view.admitted;
    views_.push_back(view);
    viewed_.push_back(i);
  }
  return !ends || !waits;
}

Result<bool> Scheduler::PrepareAhead(std::span<Sequence* const> sequences) {
  if (!LookAhead(sequences)) return false;
  RunPlan& plan = next().plan;
  const bool prefills = oldest().plan.kind == RunKind::kPrefill;
  planner_.Plan(views_, pool_.free(), FreeSlots(), prefills ? prefills_in_a_row_ + 1 : 0, &plan);
  // A sequence that would lose its pages may be part of the run that is under way, whose token it
  // must still get.
  if (plan.kind == RunKind::kNone || !plan.preempted.empty()) return false;
  for (size_t& i : plan.admitted) i = viewed_[i];
  for (RowWork& row : plan.rows) row.request = viewed_[row.request];
  return Begin(sequences);
}

Status Scheduler::CheckTokens(const ScheduledRun& run) const {
  const int64_t vocabulary = planner_.layout().vocabulary;
  for (size_t r = 0; r < run.plan.rows.size(); ++r) {
    const Sequence* const sequence = run.sequences[r];
    const int32_t token = run.tokens[r];
    if (sequence == nullptr || !run.plan.rows[r].Draws(sequence->View())) continue;
    if (token >= 0 && token < vocabulary) continue;
    return Error(Code::kInternal, "a run drew the token ", token, " of a vocabulary of ",
                 vocabulary);
  }
  return OkStatus();
}

Status Scheduler::Commit(std::vector<Sequence*>* drawn) {
  drawn->clear();
  const ScheduledRun& run = oldest();
  DropOldest();  // its place is not used again before the next plan
  AICF_RETURN_IF_ERROR(CheckTokens(run));
  ++committed_;
  prefills_in_a_row_ = run.plan.kind == RunKind::kPrefill ? prefills_in_a_row_ + 1 : 0;
  for (size_t r = 0; r < run.plan.rows.size(); ++r) {
    Sequence* const sequence = run.sequences[r];
    if (sequence == nullptr) continue;
    const RowWork& work = run.plan.rows[r];
    const bool draws = work.Draws(sequence->View());
    sequence->cached += work.count;
    sequence->last_run = committed_;
    if (!draws) continue;
    sequence->history.push_back(run.tokens[r]);
    drawn->push_back(sequence);
  }
  return OkStatus();
}

void Scheduler::DropOldest() {
  oldest_ = (oldest_ + 1) % runs_.size();
  --under_way_;
}

}  // namespace aicf::language
