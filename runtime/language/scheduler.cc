#include "runtime/language/scheduler.h"

namespace aicf::language {

Scheduler::Scheduler(const Layout& layout, const PlannerOptions& options)
    : planner_(layout, options), pool_(static_cast<int32_t>(layout.pages)) {
  free_slots_.reserve(static_cast<size_t>(layout.slots));
  for (auto slot = static_cast<int32_t>(layout.slots); slot-- > 0;) free_slots_.push_back(slot);
  plan_.Reserve(free_slots_.size());
  tokens_.reserve(static_cast<size_t>(layout.decode.back().requests));
  for (const auto* buckets : {&layout.prefill, &layout.decode}) {
    for (const Bucket& bucket : *buckets) metas_.Clear(layout, bucket);  // makes room for each
  }
}

void Scheduler::Reserve(size_t sequences) { views_.reserve(sequences); }

Status Scheduler::Release(Sequence* sequence) {
  if (sequence->slot >= 0) free_slots_.push_back(sequence->slot);
  sequence->slot = -1;
  sequence->cached = 0;
  return pool_.Release(&sequence->pages);
}

Status Scheduler::Apply(std::span<Sequence* const> sequences) {
  for (const size_t i : plan_.preempted) {
    AICF_RETURN_IF_ERROR(Release(sequences[i]));
    ++sequences[i]->preemptions;
  }
  const Layout& layout = planner_.layout();
  const auto grow = [&](Sequence* sequence, int64_t positions) -> Status {
    if (pool_.Grow(layout.PagesFor(positions), &sequence->pages)) return OkStatus();
    return Error(Code::kInternal, "a run was planned with more pages than are free");
  };
  for (const size_t i : plan_.admitted) {
    if (free_slots_.empty())
      return Error(Code::kInternal, "more requests run than there are slots");
    sequences[i]->slot = free_slots_.back();
    free_slots_.pop_back();
    AICF_RETURN_IF_ERROR(grow(sequences[i], sequences[i]->known()));
  }
  for (const RowWork& row : plan_.rows) {
    AICF_RETURN_IF_ERROR(grow(sequences[row.request], row.origin + row.count));
  }
  return OkStatus();
}

Status Scheduler::FillMetas(std::span<Sequence* const> sequences) {
  const Layout& layout = planner_.layout();
  metas_.Clear(layout, plan_.bucket);
  tokens_.assign(static_cast<size_t>(plan_.bucket.requests), 0);
  for (size_t r = 0; r < plan_.rows.size(); ++r) {
    const RowWork& work = plan_.rows[r];
    const Sequence& sequence = *sequences[work.request];
    const std::span history(sequence.history);
    MetaRow row;
    row.tokens = history.subspan(static_cast<size_t>(work.origin), static_cast<size_t>(work.count));
    row.origin = work.origin;
    row.pages = sequence.pages;
    row.slot = sequence.slot;
    row.draw = sequence.draw;
    AICF_RETURN_IF_ERROR(metas_.Set(layout, plan_.bucket, r, row));
  }
  return OkStatus();
}

Status Scheduler::Prepare(std::span<Sequence* const> sequences) {
  views_.clear();
  for (const Sequence* sequence : sequences) views_.push_back(sequence->View());
  planner_.Plan(views_, pool_.free(), static_cast<int64_t>(free_slots_.size()), prefills_in_a_row_,
                &plan_);
  AICF_RETURN_IF_ERROR(Apply(sequences));
  return plan_.kind == RunKind::kNone ? OkStatus() : FillMetas(sequences);
}

Status Scheduler::Commit(std::span<Sequence* const> sequences, std::vector<size_t>* drawn) {
  drawn->clear();
  ++runs_;
  prefills_in_a_row_ = plan_.kind == RunKind::kPrefill ? prefills_in_a_row_ + 1 : 0;
  for (size_t r = 0; r < plan_.rows.size(); ++r) {
    const RowWork& work = plan_.rows[r];
    Sequence& sequence = *sequences[work.request];
    const bool draws = work.Draws(views_[work.request]);
    const int32_t token = tokens_[r];
    if (draws && (token < 0 || token >= planner_.layout().vocabulary)) {
      return Error(Code::kInternal, "a run drew the token ", token, " of a vocabulary of ",
                   planner_.layout().vocabulary);
    }
    sequence.cached += work.count;
    sequence.last_run = runs_;
    if (!draws) continue;
    sequence.history.push_back(token);
    drawn->push_back(work.request);
  }
  return OkStatus();
}

}  // namespace aicf::language
