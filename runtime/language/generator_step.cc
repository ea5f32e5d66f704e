// Steps of the Generator: each collects one run, and queues the next one before that where it can.
#include <algorithm>
#include <utility>

#include "base/guard.h"
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
    generator_.changed_.notify_all();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  GeneratorImpl& generator_;
};

namespace {

/// Releases the lock while it lives, and takes it again in the end, even when that comes by an
/// exception. `flag` is true meanwhile.
class Unlocked {
 public:
  Unlocked(std::unique_lock<std::mutex>& lock, bool* flag) : lock_(lock), flag_(flag) {
    *flag_ = true;
    lock_.unlock();
  }
  ~Unlocked() {
    lock_.lock();
    *flag_ = false;
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

/// Fills in everything but what was drawn.
void Describe(const ScheduledRun& run, StepReport* report) {
  report->kind = KindOf(run.plan.kind);
  report->entry = run.plan.bucket.entry;
  report->preempted = static_cast<int64_t>(run.plan.preempted.size());
  for (size_t r = 0; r < run.sequences.size(); ++r) {
    if (run.sequences[r] == nullptr) continue;  // it had ended before
    ++report->requests;
    report->positions += run.plan.rows[r].count;
  }
}

}  // namespace

Status GeneratorImpl::End(const RequestRef& request, FinishReason reason) {
  std::string rest = request->Finish(reason);
  Announce(request, {}, std::move(rest));
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
  if (request->cancelled) return OkStatus();  // what it draws after that is dropped
  AICF_ASSIGN_OR_RETURN(std::string said, request->Take(info_.end_tokens));
  Announce(request, request->result.tokens.back(), std::move(said));
  return request->finished() ? scheduler_.Release(&request->sequence) : OkStatus();
}

/// Takes over what the oldest run has drawn.
Status GeneratorImpl::Commit(StepReport* report) {
  Describe(scheduler_.oldest(), report);
  AICF_RETURN_IF_ERROR(scheduler_.Commit(&drawn_));
  report->drawn = static_cast<int64_t>(drawn_.size());
  auto next = drawn_.begin();  // in the order of active_
  for (size_t i = 0; next != drawn_.end(); ++i) {
    if (&active_[i]->sequence != *next) continue;
    ++next;
    AICF_RETURN_IF_ERROR(TakeDrawn(active_[i]));
  }
  return OkStatus();
}

/// Launches the newest run.
Status GeneratorImpl::Launch(Lock& lock) {
  Status status;
  {
    const Unlocked unlocked(lock, &running_);
    status = runner_->Launch(scheduler_.newest().plan.bucket, scheduler_.metas());
  }
  if (!status.ok()) scheduler_.DropNewest();
  return status;
}

/// Launches the run whose turn it is, unless the step before has queued it already.
Status GeneratorImpl::LaunchNext(Lock& lock) {
  if (scheduler_.under_way() > 0) return OkStatus();
  AICF_ASSIGN_OR_RETURN(const bool runs, scheduler_.Prepare(sequences_));
  if (!runs) return Error(Code::kInternal, "requests wait, and none can run");
  return Launch(lock);
}

/// Queues the run after the one that is under way, so that the device need not wait for the host in
/// between. Where the launch fails, the next step tries again, and reports the error.
Status GeneratorImpl::LaunchAhead(Lock& lock) {
  if (runner_->most_under_way() < 2) return OkStatus();
  AICF_ASSIGN_OR_RETURN(const bool runs, scheduler_.PrepareAhead(sequences_));
  if (runs) (void)Launch(lock);
  return OkStatus();
}

/// Waits for the oldest run. After an error nothing is under way: a run that is queued behind one
/// that failed would go on with tokens which that one never drew.
Status GeneratorImpl::Collect(Lock& lock, StepReport* report) {
  Status status;
  {
    const Unlocked unlocked(lock, &running_);
    status = runner_->Collect(scheduler_.oldest().tokens);
  }
  if (status.ok()) {
    status = Commit(report);
  } else {
    scheduler_.DropOldest();
  }
  if (!status.ok()) Drain(lock);
  return status;
}

/// Waits for what is under way, and drops it. A failure there comes up again with the next run.
void GeneratorImpl::Drain(Lock& lock) {
  while (scheduler_.under_way() > 0) {
    {
      const Unlocked unlocked(lock, &running_);
      (void)runner_->Collect(scheduler_.oldest().tokens);
    }
    scheduler_.DropOldest();
  }
}

Status GeneratorImpl::RunOnce(Lock& lock, StepReport* report) {
  Status status = LaunchNext(lock);
  if (status.ok()) {
    const Status ahead = LaunchAhead(lock);
    status = Collect(lock, report);
    if (status.ok()) status = ahead;
  }
  // Requests that were cancelled meanwhile are removed only now, because the runs were planned with
  // them.
  const Status ended = EndCancelled();
  return status.ok() ? ended : status;
}

Result<StepReport> GeneratorImpl::StepOnce(Lock& lock) {
  const Turn turn(*this);
  StepReport report;
  Status status;
  if (scheduler_.under_way() > 0 && scheduler_.oldest().InVain()) {
    Drain(lock);
    status = EndCancelled();
  }
  if (status.ok() && !active_.empty()) status = RunOnce(lock, &report);
  Tell(lock);
  if (!status.ok()) return status;
  return report;
}

Result<StepReport> GeneratorImpl::Step() {
  return Guarded([&]() -> Result<StepReport> {
    Lock lock(mutex_);
    if (IsStepper()) return InsideCallback();
    changed_.wait(lock, [&] { return !stepping_; });
    return StepOnce(lock);
  });
}

Result<GenerateResult> GeneratorImpl::Wait(uint64_t id) {
  return Guarded([&]() -> Result<GenerateResult> {
    Lock lock(mutex_);
    if (IsStepper()) return InsideCallback();
    AICF_ASSIGN_OR_RETURN(const RequestRef request, Find(id));
    while (!EndIsTold(*request)) {
      if (stepping_) {
        changed_.wait(lock);
      } else if (request->finished()) {
        // It was cancelled between two steps: no run is needed to tell that.
        const Turn turn(*this);
        Tell(lock);
      } else {
        AICF_RETURN_IF_ERROR(StepOnce(lock).status());
      }
      if (request->forgotten) return Find(id).status();
    }
    if (requests_.erase(id) == 0) return Find(id).status();  // somebody else has its result
    return std::move(request->result);
  });
}

}  // namespace aicf::language
