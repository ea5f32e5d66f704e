#include "python/src/generate.h"

#include <utility>

#include "base/guard.h"

namespace aicf::python {
namespace {

/// How long a thread waits for another one's run before it looks for signals.
constexpr std::chrono::milliseconds kPatience(50);

void Append(const GenerateProgress& progress, TextPart* part) noexcept {
  try {
    part->tokens.insert(part->tokens.end(), progress.tokens.begin(), progress.tokens.end());
    part->text += progress.text;
  } catch (...) {
    part->lost = true;
  }
  part->finish = progress.finish;
}

}  // namespace

/// While one exists, its thread makes a run.
class LiveGenerator::Turn {
 public:
  /// REQUIRES: the lock, which is released meanwhile, and that nobody steps.
  Turn(LiveGenerator& generator, std::unique_lock<std::mutex>& lock)
      : generator_(generator), lock_(lock) {
    generator_.stepping_ = true;
    lock_.unlock();
  }
  ~Turn() {
    lock_.lock();
    generator_.stepping_ = false;
    generator_.changed_.notify_all();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  LiveGenerator& generator_;
  std::unique_lock<std::mutex>& lock_;
};

Result<std::shared_ptr<LiveGenerator>> LiveGenerator::Create(std::shared_ptr<const Program> program,
                                                             const GeneratorOptions& options) {
  AICF_ASSIGN_OR_RETURN(auto generator, Generator::Create(std::move(program), options));
  return std::make_shared<LiveGenerator>(std::move(generator));
}

Result<std::unique_ptr<LiveRequest>> LiveGenerator::Submit(GenerateRequest request) {
  return Guarded([&]() -> Result<std::unique_ptr<LiveRequest>> {
    AICF_ASSIGN_OR_RETURN(const auto generator, Open());
    const auto part = std::make_shared<TextPart>();
    request.on_progress = [this, part](const GenerateProgress& progress) {
      const std::lock_guard lock(mutex_);
      Append(progress, part.get());
      changed_.notify_all();
    };
    auto live = std::make_unique<LiveRequest>(shared_from_this(), part);
    AICF_ASSIGN_OR_RETURN(live->id_, generator->Submit(std::move(request)));
    return live;
  });
}

Result<bool> LiveGenerator::Advance(FunctionRef<bool()> ready) {
  std::unique_lock lock(mutex_);
  if (stepping_) changed_.wait_for(lock, kPatience, [&] { return !stepping_ || ready(); });
  if (stepping_ || ready()) return false;
  const Turn turn(*this, lock);
  AICF_ASSIGN_OR_RETURN(const auto generator, Open());
  AICF_RETURN_IF_ERROR(generator->Step().status());
  return true;
}

void LiveGenerator::Close() {
  generator_.Close();
  std::unique_lock lock(mutex_);
  changed_.notify_all();
  changed_.wait(lock, [&] { return !stepping_; });
}

Status LiveRequest::CheckUsable() const {
  AICF_RETURN_IF_ERROR(generator_->Open().status());
  const std::lock_guard lock(generator_->mutex_);
  return released_ ? Status(Code::kInvalidArgument, "the stream is closed") : OkStatus();
}

Result<TextPart> LiveRequest::Take() {
  AICF_RETURN_IF_ERROR(CheckUsable());
  TextPart part;
  {
    const std::lock_guard lock(generator_->mutex_);
    std::swap(part, *part_);
    if (part.finish != FinishReason::kNone) ended_ = true;
  }
  if (part.lost) return Error(Code::kResource, "no memory for the text of a request");
  if (part.finish == FinishReason::kNone) return part;
  AICF_ASSIGN_OR_RETURN(const auto generator, generator_->Open());
  auto result = generator->Wait(id_);  // makes no run: it has ended
  if (!result.ok()) {
    AICF_RETURN_IF_ERROR(CheckUsable());  // released meanwhile
    return result.status();
  }
  result_ = *std::move(result);
  return part;
}

Result<TextPart> LiveRequest::Next() {
  AICF_ASSIGN_OR_RETURN(TextPart part, Take());
  if (!part.empty()) return part;
  AICF_RETURN_IF_ERROR(generator_->Advance([&] { return released_ || !part_->empty(); }).status());
  return Take();
}

Status LiveRequest::Cancel() {
  AICF_RETURN_IF_ERROR(CheckUsable());
  AICF_ASSIGN_OR_RETURN(const auto generator, generator_->Open());
  const Status cancelled = generator->Cancel(id_);
  const std::lock_guard lock(generator_->mutex_);
  return ended_ ? OkStatus() : cancelled;  // the generator may have forgotten one that has ended
}

void LiveRequest::Release() {
  {
    const std::lock_guard lock(generator_->mutex_);
    if (std::exchange(released_, true)) return;
    generator_->changed_.notify_all();
  }
  const auto generator = generator_->Open();
  // Where its result was taken, the generator has forgotten it already.
  if (generator.ok()) (void)(*generator)->Forget(id_);
}

}  // namespace aicf::python
