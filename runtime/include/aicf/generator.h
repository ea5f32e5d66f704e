/// Generating text with a compiled language model (docs/language_models.md). Part of libaicf, not
/// of libaicf_cuda.
///
///   auto program = aicf::Program::Load("model.aicf");
///   auto generator = aicf::Generator::Create(*program, {});
///   auto prompt = (*generator)->Encode("Once upon a time");
///   auto id = (*generator)->Submit({.prompt = *prompt, .max_new_tokens = 100});
///   auto result = (*generator)->Wait(*id);      // result->text
///
/// Any number of requests may be in progress at once. Each Step is one run of an entry point, which
/// computes either a part of one request's prompt or the next token of as many requests as the
/// largest bucket holds. Requests come and go between runs. When the cache is full, the youngest
/// request gives its pages back and computes its positions once more later; no request is ever
/// lost.
///
/// Which tokens a request draws depends on its prompt, its options and its seed: each draw takes
/// its random number from the seed and the token's position. But the model's numbers may differ in
/// their last bits between buckets, so that a close call between two tokens may fall the other way
/// when other requests run at the same time, unless GeneratorOptions::batch_invariant is set.
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
  /// Device and threads. `sync` is not read: a Step returns when its tokens are there. On CUDA,
  /// runs are queued behind each other only with `transfers`.
  SessionOptions session = {};
  /// The sequence of runs for a request, with their buckets, follows from the request alone, so
  /// that its results are equal bit for bit whatever else the generator does. Costs time, because
  /// every decode runs in the largest bucket.
  bool batch_invariant = false;
  /// Limit of consecutive runs for prompts while other requests wait for their next token. With
  /// more, prompts are ready sooner; with fewer, tokens come more evenly. At least 1.
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

/// What a run has added to a request. The views are valid during the call of on_progress.
struct GenerateProgress {
  uint64_t id = 0;
  std::span<const uint32_t> tokens;  ///< drawn since the last call, the one that ends it included
  std::string_view text;  ///< continues the text so far: whole characters, no part of a stop text
  FinishReason finish = FinishReason::kNone;
};

struct GenerateRequest {
  /// Token ids, at least one, none outside the vocabulary, no more than the context.
  std::vector<uint32_t> prompt = {};
  int64_t max_new_tokens = 0;  ///< 0: as many as the context has room for
  float temperature = 0;       ///< 0: always the most probable token
  int top_k = 0;               ///< draws among this many most probable tokens; 0: among all
  float top_p = 1;             ///< draws among the most probable that add up to this probability
  float min_p = 0;  ///< draws among tokens with at least this part of the highest probability
  int64_t seed = 0;
  bool ignore_end = false;                   ///< the model's end tokens do not end the text
  std::vector<uint32_t> stop_tokens = {};    ///< further tokens that end the text
  std::vector<std::string> stop_texts = {};  ///< needs a tokenizer; none may be empty
  /// Called by the thread that steps, after every run that has something new, with no lock held: it
  /// may call every function but Step and Wait, which return kInvalidArgument there. It must not
  /// throw. The call whose `finish` is not kNone is the last; it has returned before Wait or Poll
  /// report the request's end, and no call goes on or comes after Forget. So what it refers to may
  /// go after any of these. Calls inside on_progress never wait for it: inside the request's last
  /// call, Poll reports the end already, and inside any of its calls, Forget makes that one the
  /// last. Do not wait in it for another thread that waits for or forgets the request.
  std::function<void(const GenerateProgress&)> on_progress = nullptr;
};

struct GenerateResult {
  std::vector<uint32_t> tokens;  ///< all that were drawn, those that ended it included
  /// The text that continues the prompt's, without special tokens, without a token that ended it
  /// and without any part of a stop text. Empty without a tokenizer.
  std::string text;
  FinishReason finish = FinishReason::kNone;
  int64_t prompt_tokens = 0;
  int64_t preemptions = 0;    ///< how often it gave its pages back
  double first_token_ms = 0;  ///< from Submit to the first token; 0: there was none
  double total_ms = 0;        ///< from Submit to the end
};

/// What Poll returns: what is new since the previous Poll.
struct GeneratePart {
  std::vector<uint32_t> tokens;
  std::string text;
  FinishReason finish = FinishReason::kNone;
};

/// What one Step has done.
struct StepReport {
  enum class Kind : uint8_t { kIdle, kPrefill, kDecode };
  Kind kind = Kind::kIdle;  ///< kIdle: no request is left to work on, nothing was run
  size_t entry = 0;         ///< index into Program::entries(), unless kIdle
  int64_t requests = 0;     ///< requests that took part, without those that had ended before
  int64_t positions = 0;    ///< positions computed for them
  int64_t drawn = 0;        ///< new tokens
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
  int64_t page = 0;             ///< positions in a page of the cache
  int64_t pages = 0;            ///< pages of the cache
  int64_t slots = 0;            ///< most requests at work at once
  int64_t largest_prefill = 0;  ///< tokens of a prompt that one run takes
  int64_t largest_decode = 0;   ///< requests that one run decodes
  std::vector<uint32_t> end_tokens;
  bool has_tokenizer = false;
  std::string chat_template;  ///< its family; empty: none
};

/// Requests on one session of a language model.
///
/// Thread safety: every function may be called from any thread. Calls of Step and Wait take turns;
/// all other functions wait for bookkeeping only, never for a run, but that Forget waits for a call
/// of the request's on_progress. So a service has one thread that steps and any number that submit,
/// poll and cancel.
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
  /// The ids of a chat in the form that the model was trained on, up to the point where the model
  /// is to answer. Special tokens that a message spells out stay ordinary text. Errors:
  /// kUnsupported without a tokenizer, or where the model has no chat template of a known family;
  /// kInvalidArgument for no messages, an unknown role, or a system message where the template
  /// takes none.
  virtual Result<std::vector<uint32_t>> EncodeChat(std::span<const ChatMessage> messages) const = 0;
  /// The text of the ids, as valid UTF-8; special tokens leave nothing in it. Errors: kUnsupported,
  /// kInvalidArgument for an id outside the vocabulary.
  virtual Result<std::string> Decode(std::span<const uint32_t> ids) const = 0;

  /// Queues a request and gives its number, never 0. Allocates all memory that the request will
  /// need, so that no Step allocates anything but text. Errors: kInvalidArgument saying what is
  /// wrong: an empty prompt, a prompt longer than the context, an id outside the vocabulary, a
  /// number out of its range; kUnsupported for stop texts without a tokenizer.
  virtual Result<uint64_t> Submit(GenerateRequest request) = 0;

  /// Makes one run for the requests whose turn it is, and returns when its tokens are there. On a
  /// GPU the next run is queued before that, wherever it needs nothing of this one but the tokens,
  /// which it takes from the device: then the GPU does not wait for the host in between. The next
  /// Step returns the tokens of the queued run; a request that is submitted until then takes part
  /// in the run after it at the earliest. What a queued run computes for a request that ends
  /// meanwhile is dropped, and a queued run whose requests have all ended counts as no Step.
  /// Errors: those of Session::Run; requests stay as they were before the run.
  /// Cost: the run, and host work that is linear in the requests that are not finished.
  virtual Result<StepReport> Step() = 0;

  /// Steps until the request has ended and its last call of on_progress has returned, gives its
  /// result and forgets it. Where another thread steps, the two take turns. For a request that has
  /// ended it makes no run, but may itself call what the next Step would have called. Errors:
  /// kInvalidArgument for a number that names no request; those of Step.
  virtual Result<GenerateResult> Wait(uint64_t id) = 0;

  /// Returns what is new since the last Poll; makes no run. A request that has ended is forgotten
  /// by the Poll that says so, which is one after its last call of on_progress: until then `finish`
  /// is kNone. Errors: kInvalidArgument for a number that names no request.
  virtual Result<GeneratePart> Poll(uint64_t id) = 0;

  /// Ends a request with the tokens that it has; a request that has ended already stays as it is.
  /// Takes effect at once or, where a run is going on, after that run. That step or the next one
  /// calls on_progress. Errors: as Poll.
  virtual Status Cancel(uint64_t id) = 0;

  /// Cancels the request if it has not ended, and drops its result. on_progress is not called any
  /// more; where another thread is inside a call of it, this returns after that call, so hold no
  /// lock that on_progress takes. For requests that nobody waits for or polls. Errors: as Poll.
  virtual Status Forget(uint64_t id) = 0;

  /// Requests that have not ended, and those of whose end the next Step tells on_progress.
  virtual size_t unfinished() const = 0;
  virtual int64_t free_pages() const = 0;
  virtual MemoryReport memory() const = 0;
  virtual std::string device_name() const = 0;  ///< "NVIDIA H200", "cpu"

 protected:
  Generator() = default;
};

}  // namespace aicf
