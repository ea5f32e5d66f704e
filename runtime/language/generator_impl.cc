#include "runtime/language/generator_impl.h"

#include <algorithm>
#include <utility>

#include "base/guard.h"
#include "runtime/text/chat.h"

namespace aicf::language {
namespace {

LanguageInfo MakeInfo(const schema::LanguageModel& model, const Layout& layout) {
  LanguageInfo info;
  info.architecture = model.architecture;
  info.vocabulary = layout.vocabulary;
  info.context = layout.LongestRequest();
  info.trained_context = model.trained_context;
  info.page = layout.page;
  info.pages = layout.pages;
  info.slots = layout.slots;
  info.largest_prefill = layout.prefill.back().rows;
  info.largest_decode = layout.decode.back().requests;
  info.end_tokens = model.end_tokens;
  std::ranges::sort(info.end_tokens);
  info.has_tokenizer = model.tokenizer.has_value();
  info.chat_template = model.chat_template;
  return info;
}

Status NoTokenizer() {
  return Error(Code::kUnsupported, "the artifact has no tokenizer; pass token ids");
}

}  // namespace

GeneratorImpl::GeneratorImpl(schema::LanguageModel model, const Layout& layout,
                             std::optional<text::Tokenizer> tokenizer,
                             std::unique_ptr<Runner> runner, const GeneratorOptions& options)
    : tokenizer_(std::move(tokenizer)),
      layout_(layout),
      runner_(std::move(runner)),
      info_(MakeInfo(model, layout)),
      scheduler_(layout, {options.batch_invariant, options.prefills_in_a_row}) {}

Result<std::unique_ptr<Generator>> MakeGenerator(schema::LanguageModel model, const Layout& layout,
                                                 std::unique_ptr<Runner> runner,
                                                 const GeneratorOptions& options) {
  if (options.prefills_in_a_row < 1) {
    return Error(Code::kInvalidArgument, "prefills_in_a_row is ", options.prefills_in_a_row,
                 ", expected at least 1");
  }
  std::optional<text::Tokenizer> tokenizer;
  if (model.tokenizer) {
    AICF_ASSIGN_OR_RETURN(tokenizer, text::Tokenizer::Create(*model.tokenizer));
  }
  return std::unique_ptr<Generator>(std::make_unique<GeneratorImpl>(
      std::move(model), layout, std::move(tokenizer), std::move(runner), options));
}

Result<std::vector<uint32_t>> GeneratorImpl::Encode(std::string_view text, bool parse_special,
                                                    bool add_special) const {
  return Guarded([&]() -> Result<std::vector<uint32_t>> {
    if (!tokenizer_) return NoTokenizer();
    return tokenizer_->Encode(text, {.allow_special = parse_special, .add_special = add_special});
  });
}

Result<std::vector<uint32_t>> GeneratorImpl::EncodeChat(
    std::span<const ChatMessage> messages) const {
  return Guarded([&]() -> Result<std::vector<uint32_t>> {
    if (!tokenizer_) return NoTokenizer();
    AICF_ASSIGN_OR_RETURN(const schema::ChatTemplate family,
                          text::ChatTemplateOf(info_.chat_template));
    std::vector<text::ChatMessage> chat;
    for (const ChatMessage& message : messages) chat.push_back({message.role, message.content});
    return text::EncodeChat(*tokenizer_, family, chat);
  });
}

Result<std::string> GeneratorImpl::Decode(std::span<const uint32_t> ids) const {
  return Guarded([&]() -> Result<std::string> {
    if (!tokenizer_) return NoTokenizer();
    return tokenizer_->Decode(ids);
  });
}

Result<GeneratorImpl::RequestRef> GeneratorImpl::Find(uint64_t id) const {
  const auto found = requests_.find(id);
  if (found != requests_.end()) return found->second;
  return Error(Code::kInvalidArgument, "no request has the number ", id,
               ": it was forgotten, or never submitted");
}

Result<uint64_t> GeneratorImpl::Submit(GenerateRequest asked) {
  return Guarded([&]() -> Result<uint64_t> {
    AICF_ASSIGN_OR_RETURN(
        const RequestRef request,
        MakeRequest(std::move(asked), layout_, tokenizer_ ? &*tokenizer_ : nullptr));
    const Lock lock(mutex_);
    if (closed_) return Error(Code::kInvalidArgument, "the generator is being destroyed");
    request->id = last_id_ + 1;
    // What can run out of memory comes first: a request is in all of these, or in none.
    active_.reserve(active_.size() + 1);
    sequences_.reserve(active_.size() + 1);
    events_.reserve(active_.size() + 1);
    drawn_.reserve(active_.size() + 1);
    scheduler_.Reserve(active_.size() + 1);
    requests_.emplace(request->id, request);
    active_.push_back(request);
    sequences_.push_back(&request->sequence);
    return ++last_id_;
  });
}

Result<GeneratePart> GeneratorImpl::Poll(uint64_t id) {
  return Guarded([&]() -> Result<GeneratePart> {
    const Lock lock(mutex_);
    AICF_ASSIGN_OR_RETURN(const RequestRef request, Find(id));
    const GenerateResult& result = request->result;
    GeneratePart part;
    part.tokens.assign(result.tokens.begin() + static_cast<int64_t>(request->polled_tokens),
                       result.tokens.end());
    part.text = result.text.substr(request->polled_bytes);
    if (EndIsTold(*request)) part.finish = result.finish;
    request->polled_tokens = result.tokens.size();
    request->polled_bytes = result.text.size();
    if (part.finish != FinishReason::kNone) requests_.erase(id);
    return part;
  });
}

Status GeneratorImpl::Cancel(uint64_t id) {
  return Guarded([&]() -> Status {
    const Lock lock(mutex_);
    AICF_ASSIGN_OR_RETURN(const RequestRef request, Find(id));
    if (request->finished()) return OkStatus();
    request->cancelled = true;
    return running_ ? OkStatus() : EndCancelled();
  });
}

Status GeneratorImpl::Forget(uint64_t id) {
  return Guarded([&]() -> Status {
    Lock lock(mutex_);
    AICF_ASSIGN_OR_RETURN(const RequestRef request, Find(id));
    request->forgotten = true;
    requests_.erase(id);
    Status status;
    if (!request->finished()) {
      request->cancelled = true;
      if (!running_) status = EndCancelled();
    }
    // No call begins any more. One that goes on in another thread is waited for; one of this thread
    // is the caller.
    const auto called = [&] { return told_ != nullptr && told_->request == request; };
    if (!IsStepper()) changed_.wait(lock, [&] { return !called(); });
    return status;
  });
}

Status GeneratorImpl::Close() {
  return Guarded([&]() -> Status {
    const Lock lock(mutex_);
    closed_ = true;
    for (const RequestRef& request : active_) {
      if (!request->finished()) request->cancelled = true;
    }
    return running_ ? OkStatus() : EndCancelled();
  });
}

size_t GeneratorImpl::unfinished() const {
  const Lock lock(mutex_);
  size_t count = active_.size();
  for (const Event& event : events_) {
    if (event.finish != FinishReason::kNone && !event.request->forgotten) ++count;
  }
  return count;
}

int64_t GeneratorImpl::free_pages() const {
  const Lock lock(mutex_);
  return scheduler_.free_pages();
}

}  // namespace aicf::language
