// What the Generator tells through on_progress, and who waits until it is told.
#include <utility>

#include "runtime/language/generator_impl.h"

namespace aicf::language {

/// One call of on_progress, during which the lock is released. It is over even when it ends by an
/// exception, so that nobody waits for it in vain.
class GeneratorImpl::Telling {
 public:
  Telling(GeneratorImpl& generator, Lock& lock, const Event& event)
      : generator_(generator), lock_(lock), event_(event) {
    generator_.told_ = &event;
    lock_.unlock();
  }
  ~Telling() {
    lock_.lock();
    generator_.told_ = nullptr;
    const bool ends = event_.finish != FinishReason::kNone;
    if (ends) event_.request->end_untold = false;
    // Only Wait and Forget wait for calls, and for no others than these.
    if (ends || event_.request->forgotten) generator_.changed_.notify_all();
  }
  Telling(const Telling&) = delete;
  Telling& operator=(const Telling&) = delete;

 private:
  GeneratorImpl& generator_;
  Lock& lock_;
  const Event& event_;
};

/// Notes what on_progress is to be told; what ends a request is the last that is noted of it.
void GeneratorImpl::Announce(const RequestRef& request, std::optional<uint32_t> token,
                             std::string text) {
  if (!request->asked.on_progress || request->forgotten) return;
  events_.push_back({request, token, std::move(text), request->result.finish});
  request->end_untold = request->finished();
}

/// Tells what has happened; callbacks may submit and cancel, which can add events. Where a callback
/// has thrown, the next turn goes on with the event after it.
void GeneratorImpl::Tell(Lock& lock) {
  for (;;) {
    if (next_told_ == telling_.size()) {
      telling_.clear();
      next_told_ = 0;
      if (events_.empty()) return;
      telling_.swap(events_);
    }
    const Event& event = telling_[next_told_++];
    if (event.request->forgotten) continue;
    GenerateProgress progress;
    progress.id = event.request->id;
    if (event.token) progress.tokens = {&*event.token, 1};
    progress.text = event.text;
    progress.finish = event.finish;
    const Telling telling(*this, lock, event);
    event.request->asked.on_progress(progress);
  }
}

/// Whether this thread is the one that steps, so that it is inside a callback or a run.
bool GeneratorImpl::IsStepper() const {
  return stepping_ && stepper_ == std::this_thread::get_id();
}

/// Whether the end of the request may be reported: it has ended, and no call of on_progress goes on
/// or will come, but for the last one where that is the caller.
bool GeneratorImpl::EndIsTold(const Request& request) const {
  if (!request.finished()) return false;
  if (!request.end_untold) return true;
  return IsStepper() && told_ != nullptr && told_->request.get() == &request &&
         told_->finish != FinishReason::kNone;
}

}  // namespace aicf::language
