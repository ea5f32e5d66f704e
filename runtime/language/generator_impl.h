/// The Generator behind its public face: requests, locks and callbacks around the scheduler.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "aicf/generator.h"
#include "runtime/language/request.h"
#include "runtime/language/runner.h"
#include "runtime/language/scheduler.h"

namespace aicf::language {

/// A generator on any runner: what Generator::Create does once it has a session, and what tests do
/// with a runner of their own. `layout` is that of the model. Errors: those of the tokenizer.
Result<std::unique_ptr<Generator>> MakeGenerator(schema::LanguageModel model, const Layout& layout,
                                                 std::unique_ptr<Runner> runner,
                                                 const GeneratorOptions& options);

/// One mutex guards everything but the runner, which belongs to the thread that has set
/// `stepping_`. It is never held during a run or a callback.
///
/// Only the thread that has set `stepping_` calls on_progress, so at most one call goes on at any
/// time, that of `told_`, and a function that a callback calls finds itself on that thread. Each
/// call begins and ends under the mutex. So whoever holds it knows of each request whether a call
/// goes on (`told_`), whether one may still come (Request::forgotten) and whether the last one has
/// returned (Request::end_untold).
class GeneratorImpl final : public Generator {
 public:
  GeneratorImpl(schema::LanguageModel model, const Layout& layout,
                std::optional<text::Tokenizer> tokenizer, std::unique_ptr<Runner> runner,
                const GeneratorOptions& options);

  const LanguageInfo& info() const override { return info_; }
  Result<std::vector<uint32_t>> Encode(std::string_view text, bool parse_special,
                                       bool add_special) const override;
  Result<std::vector<uint32_t>> EncodeChat(std::span<const ChatMessage> messages) const override;
  Result<std::string> Decode(std::span<const uint32_t> ids) const override;
  Result<uint64_t> Submit(GenerateRequest request) override;
  Result<StepReport> Step() override;
  Result<GenerateResult> Wait(uint64_t id) override;
  Result<GeneratePart> Poll(uint64_t id) override;
  Status Cancel(uint64_t id) override;
  Status Forget(uint64_t id) override;
  /// Cancels all requests, and lets no new one in: calls of Wait return once the run that goes on
  /// is over. For the C interface, which has to get its callers out of a generator that it
  /// destroys.
  Status Close();
  size_t unfinished() const override;
  int64_t free_pages() const override;
  MemoryReport memory() const override { return runner_->memory(); }
  std::string device_name() const override { return runner_->device_name(); }

 private:
  using Lock = std::unique_lock<std::mutex>;
  using RequestRef = std::shared_ptr<Request>;
  /// Something to tell a request's on_progress.
  struct Event {
    RequestRef request;
    std::optional<uint32_t> token;
    std::string text;
    FinishReason finish = FinishReason::kNone;
  };
  class Turn;
  class Telling;

  // All of these REQUIRE that the lock is held. Those that take it as an argument release it while
  // a run or a callback goes on.
  Result<RequestRef> Find(uint64_t id) const;
  Result<StepReport> StepOnce(Lock& lock);
  Status RunOnce(Lock& lock, StepReport* report);
  Status Launch(Lock& lock);
  Status LaunchNext(Lock& lock);
  Status LaunchAhead(Lock& lock);
  Status Collect(Lock& lock, StepReport* report);
  void Drain(Lock& lock);
  Status Commit(StepReport* report);
  Status TakeDrawn(const RequestRef& request);
  Status End(const RequestRef& request, FinishReason reason);
  Status EndCancelled();
  void RemoveFinished();
  void Announce(const RequestRef& request, std::optional<uint32_t> token, std::string text);
  void Tell(Lock& lock);
  bool IsStepper() const;
  bool EndIsTold(const Request& request) const;

  const std::optional<text::Tokenizer> tokenizer_;
  const Layout layout_;
  const std::unique_ptr<Runner> runner_;
  LanguageInfo info_;

  mutable std::mutex mutex_;
  /// A turn has ended, or a call of on_progress for which somebody may wait.
  std::condition_variable changed_;
  bool closed_ = false;
  bool stepping_ = false;
  bool running_ = false;     ///< the runner is at work: meanwhile no request may leave active_
  std::thread::id stepper_;  ///< the thread that steps, while stepping_
  uint64_t last_id_ = 0;
  std::unordered_map<uint64_t, RequestRef> requests_;  ///< all that are not forgotten
  std::vector<RequestRef> active_;    ///< those that have not ended, in order of submission
  std::vector<Sequence*> sequences_;  ///< of active_
  Scheduler scheduler_;
  std::vector<Sequence*> drawn_;  ///< kept for its memory
  std::vector<Event> events_;     ///< those whose callback is still to be called
  std::vector<Event> telling_;    ///< those whose callbacks the stepping thread is calling
  size_t next_told_ = 0;          ///< index into telling_ of the first whose call has not begun
  const Event* told_ = nullptr;   ///< the one of telling_ whose call goes on
};

}  // namespace aicf::language
