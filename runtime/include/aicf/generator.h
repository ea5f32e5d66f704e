/// Generating text with a compiled language model (docs/language_models.md). In libaicf, not in
/// libaicf_cuda.
///
///   auto program = aicf::Program::Load("model.aicf");
///   auto generator = aicf::Generator::Create(*program, {});
///   auto prompt = (*generator)->Encode("Once upon a time");
///   auto id = (*generator)->Submit({.prompt = *prompt, .max_new_tokens = 100});
///   auto result = (*generator)->Wait(*id);      // result->text
///
/// Any number of requests are at work at once: each Step is one run of an entry point, a part of
/// one request's prompt or the next token of as many requests as the largest bucket holds. Requests
/// come and go between runs. Where the cache is full, the youngest request gives its pages back and
/// computes its positions once more later; none is ever lost.
///
/// What a request draws depends on its prompt, its options and its seed: the draw is numbered by
/// its position. The model's numbers may differ in their last bits between buckets, so a close call
/// may fall the other way in other company, unless GeneratorOptions::batch_invariant is set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "aicf/aicf.h"
#include "base/api.h"
#include "base/status.h"

namespace aicf {

struct GeneratorOptions {
  /// Device and threads. `sync` is not read: a Step returns when its tokens are there. CUDA without
  /// `transfers`: no run is queued behind another.
  SessionOptions session = {};
  /// Every run of a request follows from the request alone: results are equal bit for bit whatever
  /// else the generator does. Costs time, because a decode always has the largest bucket's rows.
  bool batch_invariant = false;
  /// Most runs for prompts one after the other while other requests wait for their next token.
  /// More: prompts are ready sooner; fewer: tokens come more evenly. At least 1.
  int prefills_in_a_row = 4;
};

enum class FinishReason : uint8_t {
  kNone,       ///< it goes on
  kLength,     ///< max_new_tokens were drawn
  kContext,    ///< the model's context, or the whole cache, is full
  kEndToken,   ///< the model ended its text
  kStopToken,  ///< one of stop_tokens was drawn
  kStopText,   ///< one of stop_texts was complete
  kCancelled,  ///< Cancel was called
};

/// "length", "context", "end-token", "stop-token", "stop-text", "cancelled" or "none".
AICF_API std::string_view FinishReasonName(FinishReason reason);

/// What is new of a request after a run. Views are valid during the call.
struct GenerateProgress {
  uint64_t id = 0;
  std::span<const uint32_t> tokens;  ///< drawn since the last call, those that ended it included
  std::string_view text;  ///< to be appended; whole characters, and nothing of a stop text
  FinishReason finish = FinishReason::kNone;
};

struct GenerateRequest {
  /// Token ids, at least one, none outside the vocabulary, no more than the context.
  std::vector<uint32_t> prompt = {};
  int64_t max_new_tokens = 0;  ///< 0: as many as the context has room for
  float temperature = 0;       ///< 0: always the most probable token
  int top_k = 0;               ///< draws among this many; 0: among all
  float top_p = 1;             ///< draws among the most probable that make up this much
  float min_p = 0;  ///< draws among those that have this part of the most probable's probability
  int64_t seed = 0;
  bool ignore_end = false;                   ///< the model's end tokens are tokens like any other
  std::vector<uint32_t> stop_tokens = {};    ///< more tokens that end the text
  std::vector<std::string> stop_texts = {};  ///< needs a tokenizer; none may be empty
  /// Called by the thread that steps, after every run that has something new, with no lock held: it
  /// may call every function but Step and Wait. It must not throw.
  std::function<void(const GenerateProgress&)> on_progress = nullptr;
};

struct GenerateResult {
  std::vector<uint32_t> tokens;  ///< all that were drawn, those that ended it included
  /// As it continues the prompt's: no special tokens, none that ended it, nothing of a stop text.
  /// Empty without a tokenizer.
  std::string text;
  FinishReason finish = FinishReason::kNone;
  int64_t prompt_tokens = 0;
  int64_t preemptions = 0;    ///< how often it gave its pages back
  double first_token_ms = 0;  ///< from Submit to the first token; 0: there was none
  double total_ms = 0;        ///< from Submit to the end
};

/// What Poll gives: what came since the Poll before.
struct GeneratePart {
  std::vector<uint32_t> tokens;
  std::string text;
  FinishReason finish = FinishReason::kNone;
};

/// One Step.
struct StepReport {
  enum class Kind : uint8_t { kIdle, kPrefill, kDecode };
  Kind kind = Kind::kIdle;  ///< kIdle: no request is left to work on, nothing was run
  size_t entry = 0;         ///< index into Program::entries(), unless kIdle
  int64_t requests = 0;     ///< that took part and had not ended before
  int64_t positions = 0;    ///< computed for them
  int64_t drawn = 0;        ///< tokens that are new
  int64_t preempted = 0;    ///< requests that gave their pages back
};

/// What somebody says in a chat.
struct ChatMessage {
  std::string role;  ///< "system", "user" or "assistant"
  std::string content;
};

/// What a request has to fit, and what there is.
struct LanguageInfo {
  std::string architecture;
  int64_t vocabulary = 0;
  int64_t context = 0;  ///< most positions of a request, limited by the cache as well
  int64_t trained_context = 0;
  int64_t page = 0;             ///< positions
  int64_t pages = 0;            ///< of the cache
  int64_t slots = 0;            ///< most requests at work at once
  int64_t largest_prefill = 0;  ///< tokens of a prompt that one run takes
  int64_t largest_decode = 0;   ///< requests that one run decodes
  std::vector<uint32_t> end_tokens;
  bool has_tokenizer = false;
  std::string chat_template;  ///< its family; empty: none
};

/// Requests on one session of a language model.
///
/// Thread safety: every function may be called from any thread. Step and Wait run one at a time,
/// the others wait for bookkeeping only, never for a run: a service has one thread that steps and
/// any number that submit, poll and cancel.
/// Ownership: keeps the program alive; requests are the generator's until they are forgotten.
class AICF_API Generator {
 public:
  /// Reads the artifact's language model, checks the entry points against it and makes a session.
  /// Errors: kUnsupported for an artifact that has no language model, or one that generates no
  /// text; kBadArtifact naming the entry point, meta or number that is wrong; those of
  /// Session::Create. Cost: that of Session::Create and of making the tokenizer.
  static Result<std::unique_ptr<Generator>> Create(std::shared_ptr<const Program> program,
                                                   const GeneratorOptions& options);
  virtual ~Generator() = default;
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;

  virtual const LanguageInfo& info() const = 0;

  /// Text to ids and back. `parse_special`: special tokens that are spelled out become those
  /// tokens; leave it off for text that others wrote. `add_special`: bos and eos go around the text
  /// where the model wants them. Errors: kUnsupported without a tokenizer, those of the tokenizer.
  virtual Result<std::vector<uint32_t>> Encode(std::string_view text, bool parse_special = false,
                                               bool add_special = true) const = 0;
  /// The ids of a chat in the form that the model was trained on, up to where it answers. Special
  /// tokens that a message spells out are text in it. Errors: kUnsupported without a tokenizer, or
  /// where the model has no chat template of a known family; kInvalidArgument for no messages, an
  /// unknown role, or a system message where the template takes none.
  virtual Result<std::vector<uint32_t>> EncodeChat(std::span<const ChatMessage> messages) const = 0;
  /// Valid UTF-8; special tokens leave nothing. Errors: kUnsupported, kInvalidArgument for an id
  /// outside the vocabulary.
  virtual Result<std::string> Decode(std::span<const uint32_t> ids) const = 0;

  /// Queues a request and gives its number, never 0. Allocates what the request will need, so that
  /// no Step has to, but for text. Errors: kInvalidArgument saying what is wrong: an empty prompt,
  /// a prompt longer than the context, an id outside the vocabulary, a number out of its range;
  /// kUnsupported for stop texts without a tokenizer.
  virtual Result<uint64_t> Submit(GenerateRequest request) = 0;

  /// One run, for the requests whose turn it is: returns when its tokens are there. On a GPU the
  /// next run is queued before that, wherever it needs nothing of this one but the tokens, which it
  /// takes from the device: then the GPU does not wait for the host in between. The next Step
  /// returns that run's tokens; what is submitted until then takes part in the one after it. What a
  /// queued run computes for a request that ends meanwhile is dropped, and is no Step if there is
  /// nothing else in it. Errors: those of Session::Run; requests stay as they were before the run.
  /// Cost: the run, and host work that is linear in the requests that are not finished.
  virtual Result<StepReport> Step() = 0;

  /// Steps until the request has ended, gives its result and forgets it. Where another thread
  /// steps, the two take turns. Errors: kInvalidArgument for a number that names no request; those
  /// of Step.
  virtual Result<GenerateResult> Wait(uint64_t id) = 0;

  /// What is new since the last Poll; steps nothing. A request that has ended is forgotten by the
  /// Poll that says so. Errors: kInvalidArgument for a number that names no request.
  virtual Result<GeneratePart> Poll(uint64_t id) = 0;

  /// Ends a request with what it has; one that has ended stays as it is. Takes effect at once, or
  /// after the run that it is part of; on_progress is told by the next Step. Errors: as Poll.
  virtual Status Cancel(uint64_t id) = 0;

  /// Cancels a request where it has not ended, and drops its result; on_progress is not called any
  /// more once the run that it is part of is over. For requests of which nobody waits or polls.
  /// Errors: as Poll.
  virtual Status Forget(uint64_t id) = 0;

  /// Requests that have not ended.
  virtual size_t unfinished() const = 0;
  virtual int64_t free_pages() const = 0;
  virtual MemoryReport memory() const = 0;
  virtual std::string device_name() const = 0;  ///< "NVIDIA H200", "cpu"

 protected:
  Generator() = default;
};

}  // namespace aicf
