// Steps of the Generator: one run each, and what it changes.
#include <algorithm>
#include <utility>

#include "runtime/guard.h"
#include "runtime/language/generator_impl.h"

namespace aicf::language {

/// While one exists, its thread is the one that steps.
class GeneratorImpl::Turn {
 public:
  /// REQUIRES: the lock, and that nobody steps.
  explicit Turn(GeneratorImpl& generator) : generator_(generator) {
    generator_.stepping_ = true;
    generator_.stepper_ = std::this_thread::get_id();
  }
  ~Turn() {
    generator_.stepping_ = false;
    generator_.turn_ended_.notify_all();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  GeneratorImpl& generator_;
};

namespace {

/// Takes the lock again when it goes, however that comes about. `flag` is true meanwhile.
class Unlocked {
 public:
  explicit Unlocked(std::unique_lock<std::mutex>& lock, bool* flag = nullptr)
      : lock_(lock), flag_(flag) {
    if (flag_ != nullptr) *flag_ = true;
    lock_.unlock();
  }
  ~Unlocked() {
    lock_.lock();
    if (flag_ != nullptr) *flag_ = false;
  }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  std::unique_lock<std::mutex>& lock_;
  bool* const flag_;
};

Status InsideCallback() {
  return Error(Code::kInvalidArgument, "on_progress may not step or wait: it is called by a step");
}

StepReport::Kind KindOf(RunKind kind) {
  return kind == RunKind::kPrefill ? StepReport::Kind::kPrefill : StepReport::Kind::kDecode;
}

}  // namespace

Status GeneratorImpl::End(const RequestRef& request, FinishReason reason) {
  std::string rest = request->Finish(reason);
  if (request->asked.on_progress) events_.push_back({request, {}, std::move(rest), reason});
  return scheduler_.Release(&request->sequence);
}

Status GeneratorImpl::EndCancelled() {
  for (const RequestRef& request : active_) {
    if (!request->cancelled || request->finished()) continue;
    AICF_RETURN_IF_ERROR(End(request, FinishReason::kCancelled));
  }
  RemoveFinished();
  return OkStatus();
}

void GeneratorImpl::RemoveFinished() {
  std::erase_if(active_, [](const RequestRef& request) { return request->finished(); });
  sequences_.clear();
  for (const RequestRef& request : active_) sequences_.push_back(&request->sequence);
}

Status GeneratorImpl::TakeDrawn(const RequestRef& request) {
  if (request->cancelled) return OkStatus();  // what it drew after that is nobody's
  AICF_ASSIGN_OR_RETURN(std::string said, request->Take(info_.end_tokens));
  const FinishReason finish = request->result.finish;
  if (request->asked.on_progress) {
    events_.push_back({request, request->result.tokens.back(), std::move(said), finish});
  }
  return finish == FinishReason::kNone ? OkStatus() : scheduler_.Release(&request->sequence);
}

Status GeneratorImpl::Commit(StepReport* report) {
  AICF_RETURN_IF_ERROR(scheduler_.Commit(sequences_, &drawn_));
  for (const size_t i : drawn_) AICF_RETURN_IF_ERROR(TakeDrawn(active_[i]));
  const RunPlan& plan = scheduler_.plan();
  report->kind = KindOf(plan.kind);
  report->entry = plan.bucket.entry;
  report->requests = static_cast<int64_t>(plan.rows.size());
  for (const RowWork& row : plan.rows) report->positions += row.count;
  report->drawn = static_cast<int64_t>(drawn_.size());
  report->preempted = static_cast<int64_t>(plan.preempted.size());
  return OkStatus();
}

Status GeneratorImpl::RunOnce(Lock& lock, StepReport* report) {
  AICF_RETURN_IF_ERROR(scheduler_.Prepare(sequences_));
  const RunPlan& plan = scheduler_.plan();
  if (plan.kind == RunKind::kNone) return Error(Code::kInternal, "requests wait, and none can run");
  Status status;
  {
    const Unlocked unlocked(lock, &running_);
    status = runner_->Run(plan.bucket, scheduler_.metas(), scheduler_.tokens());
  }
  // The plan's indices still hold: what was submitted meanwhile stands behind the others, and what
  // was cancelled leaves only now.
  if (status.ok()) status = Commit(report);
  const Status ended = EndCancelled();
  return status.ok() ? ended : status;
}

/// Tells what has happened; callbacks may submit and cancel, which can add events.
void GeneratorImpl::Tell(Lock& lock) {
  while (!events_.empty()) {
    telling_.clear();
    telling_.swap(events_);
    const Unlocked unlocked(lock);
    for (const Event& event : telling_) {
      if (event.request->forgotten) continue;
      GenerateProgress progress;
      progress.id = event.request->id;
      if (event.token) progress.tokens = {&*event.token, 1};
      progress.text = event.text;
      progress.finish = event.finish;
      event.request->asked.on_progress(progress);
    }
  }
  telling_.clear();
}

Result<StepReport> GeneratorImpl::StepOnce(Lock& lock) {
  const Turn turn(*this);
  StepReport report;
  Status status;
  if (!active_.empty()) status = RunOnce(lock, &report);
  Tell(lock);
  if (!status.ok()) return status;
  return report;
}

Result<StepReport> GeneratorImpl::Step() {
  return Guarded([&]() -> Result<StepReport> {
    Lock lock(mutex_);
    if (stepping_ && stepper_ == std::this_thread::get_id()) return InsideCallback();
    turn_ended_.wait(lock, [&] { return !stepping_; });
    return StepOnce(lock);
  });
}

Result<GenerateResult> GeneratorImpl::Wait(uint64_t id) {
  return Guarded([&]() -> Result<GenerateResult> {
    Lock lock(mutex_);
    if (stepping_ && stepper_ == std::this_thread::get_id()) return InsideCallback();
    AICF_ASSIGN_OR_RETURN(const RequestRef request, Find(id));
    while (!request->finished()) {
      if (!stepping_) {
        AICF_RETURN_IF_ERROR(StepOnce(lock).status());
      } else {
        turn_ended_.wait(lock);
      }
      if (request->forgotten) return Find(id).status();
    }
    if (requests_.erase(id) == 0) return Find(id).status();  // somebody else has its result
    return std::move(request->result);
  });
}

}  // namespace aicf::language
