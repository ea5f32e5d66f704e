/// A generator that the threads of Python share, and its requests.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "aicf/generator.h"
#include "base/function_ref.h"
#include "base/status.h"
#include "python/src/closable.h"

namespace aicf::python {

/// What is new of a request.
struct TextPart {
  std::vector<uint32_t> tokens;
  std::string text;
  FinishReason finish = FinishReason::kNone;
  bool lost = false;  ///< there was no memory for some of it

  bool empty() const {
    return tokens.empty() && text.empty() && finish == FinishReason::kNone && !lost;
  }
};

class LiveRequest;

/// Whoever waits for a request makes the next run, unless another thread is making one: then he
/// waits until that one has something for him, or is over.
///
/// Thread safety: every function may be called from any thread; none needs the interpreter's lock.
class LiveGenerator : public std::enable_shared_from_this<LiveGenerator> {
 public:
  /// Errors: those of Generator::Create.
  static Result<std::shared_ptr<LiveGenerator>> Create(std::shared_ptr<const Program> program,
                                                       const GeneratorOptions& options);
  explicit LiveGenerator(std::unique_ptr<Generator> generator)
      : generator_("generator", std::move(generator)) {}

  /// Errors: kInvalidArgument once it is closed, as of every function here.
  Result<std::shared_ptr<Generator>> Open() const { return generator_.Open(); }

  /// Queues a request, which ends at the latest with the LiveRequest. Errors: those of
  /// Generator::Submit.
  Result<std::unique_ptr<LiveRequest>> Submit(GenerateRequest request);

  /// Makes one run, or waits a moment for the thread that is making one. Does nothing once
  /// ready(), which is called under the lock. True: this thread made a run. It returns in between
  /// so that the caller can look for signals. Errors: those of Generator::Step.
  Result<bool> Advance(FunctionRef<bool()> ready);

  /// All functions fail from now on, those of the requests as well. Returns once the run that goes
  /// on is over.
  void Close();

 private:
  friend class LiveRequest;
  class Turn;

  Closable<Generator> generator_;
  std::mutex mutex_;  ///< guards what follows and the parts of all requests
  std::condition_variable changed_;
  bool stepping_ = false;
};

/// A request from when it was submitted until its result was taken or it is released.
///
/// Thread safety: as LiveGenerator, but that only one thread at a time may be inside Take and Next.
class LiveRequest {
 public:
  LiveRequest(std::shared_ptr<LiveGenerator> generator, std::shared_ptr<TextPart> part)
      : generator_(std::move(generator)), part_(std::move(part)) {}
  ~LiveRequest() { Release(); }
  LiveRequest(const LiveRequest&) = delete;
  LiveRequest& operator=(const LiveRequest&) = delete;

  /// What is new since the last call; makes no run. The part that says how the request ended is the
  /// last. Errors: kInvalidArgument after Release, or once the generator is closed; kResource where
  /// there was no memory for the text.
  Result<TextPart> Take();

  /// The same, but if nothing is new it advances the generator first; still empty where nothing
  /// came of that. Errors: those of Take and LiveGenerator::Advance.
  Result<TextPart> Next();

  /// All of it, once a part has said how it ended.
  const std::optional<GenerateResult>& result() const { return result_; }

  /// Ends the request with what it has, which the next parts say; one that has ended stays as it
  /// is. Errors: as Take.
  Status Cancel();

  /// Ends the request and drops what is left of it.
  void Release();

 private:
  friend class LiveGenerator;
  Status CheckUsable() const;

  const std::shared_ptr<LiveGenerator> generator_;
  const std::shared_ptr<TextPart> part_;  ///< what has come and was not taken yet
  uint64_t id_ = 0;                       ///< set once, by LiveGenerator::Submit
  bool released_ = false;                 ///< guarded by the generator's mutex, as is the next
  bool ended_ = false;                    ///< the part that says so was taken
  std::optional<GenerateResult> result_;
};

}  // namespace aicf::python
