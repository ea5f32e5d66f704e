#include "runtime/language/request.h"

#include <algorithm>
#include <cmath>

namespace aicf::language {
namespace {

Status CheckIds(std::string_view what, std::span<const uint32_t> ids, const Layout& layout) {
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < layout.vocabulary) continue;
    return Error(Code::kInvalidArgument, what, " ", i, " is the id ", ids[i],
                 ", the vocabulary has ", layout.vocabulary);
  }
  return OkStatus();
}

Status CheckPrompt(const GenerateRequest& asked, const Layout& layout) {
  if (asked.prompt.empty()) return Error(Code::kInvalidArgument, "the prompt is empty");
  const auto tokens = static_cast<int64_t>(asked.prompt.size());
  const int64_t most = layout.LongestRequest();
  if (tokens > most) {
    return Error(Code::kInvalidArgument, "the prompt has ", tokens, " tokens, the ",
                 most < layout.context ? "cache" : "context", " has room for ", most);
  }
  return CheckIds("token", asked.prompt, layout);
}

Status CheckReal(std::string_view name, float value, int least, int most) {
  if (value >= static_cast<float>(least) && value <= static_cast<float>(most)) return OkStatus();
  return Error(Code::kInvalidArgument, name, " is ", value, ", expected ", least, " to ", most);
}

Status CheckNumbers(const GenerateRequest& asked) {
  if (asked.max_new_tokens < 0) {
    return Error(Code::kInvalidArgument, "max_new_tokens is ", asked.max_new_tokens,
                 ", expected at least 0");
  }
  if (asked.top_k < 0) {
    return Error(Code::kInvalidArgument, "top_k is ", asked.top_k, ", expected at least 0");
  }
  AICF_RETURN_IF_ERROR(CheckReal("temperature", asked.temperature, 0, 1000));
  AICF_RETURN_IF_ERROR(CheckReal("top_p", asked.top_p, 0, 1));
  return CheckReal("min_p", asked.min_p, 0, 1);
}

Status CheckStops(const GenerateRequest& asked, const Layout& layout, bool has_tokenizer) {
  if (!asked.stop_texts.empty() && !has_tokenizer) {
    return Error(Code::kUnsupported,
                 "stop texts need a tokenizer, and the artifact has none; use stop tokens");
  }
  if (std::ranges::any_of(asked.stop_texts, &std::string::empty)) {
    return Error(Code::kInvalidArgument, "a stop text is empty");
  }
  return CheckIds("stop token", asked.stop_tokens, layout);
}

Status CheckRequest(const GenerateRequest& asked, const Layout& layout, bool has_tokenizer) {
  AICF_RETURN_IF_ERROR(CheckPrompt(asked, layout));
  AICF_RETURN_IF_ERROR(CheckNumbers(asked));
  return CheckStops(asked, layout, has_tokenizer);
}

/// The last position that is computed draws one more token, which needs no position of its own.
void SetLimit(const Layout& layout, Request* request) {
  const int64_t room = layout.LongestRequest() - request->sequence.prompt + 1;
  const int64_t asked = request->asked.max_new_tokens;
  request->ends_with_context = asked == 0 || asked > room;
  request->sequence.most_tokens =
      request->sequence.prompt + (request->ends_with_context ? room : asked);
}

}  // namespace

Result<std::shared_ptr<Request>> MakeRequest(GenerateRequest asked, const Layout& layout,
                                             const text::Tokenizer* tokenizer) {
  AICF_RETURN_IF_ERROR(CheckRequest(asked, layout, tokenizer != nullptr));
  auto request = std::make_shared<Request>();
  request->submitted = std::chrono::steady_clock::now();
  if (tokenizer != nullptr) {
    AICF_ASSIGN_OR_RETURN(request->output,
                          TextOutput::Create(*tokenizer, asked.prompt, asked.stop_texts));
  }
  Sequence& sequence = request->sequence;
  sequence.prompt = static_cast<int64_t>(asked.prompt.size());
  sequence.draw = {asked.temperature, asked.top_k, asked.top_p, asked.min_p, asked.seed};
  request->asked = std::move(asked);
  SetLimit(layout, request.get());
  const auto longest = static_cast<size_t>(sequence.most_tokens);
  sequence.history.reserve(longest);
  sequence.history.assign(request->asked.prompt.begin(), request->asked.prompt.end());
  sequence.pages.reserve(layout.PagesFor(static_cast<int64_t>(longest)));
  request->asked.prompt = {};
  request->result.tokens.reserve(longest - static_cast<size_t>(sequence.prompt));
  request->result.prompt_tokens = sequence.prompt;
  return request;
}

double Request::MillisecondsSinceSubmit() const {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - submitted)
      .count();
}

Result<std::string> Request::Take(const std::vector<uint32_t>& end_tokens) {
  const auto token = static_cast<uint32_t>(sequence.history.back());
  result.tokens.push_back(token);
  if (result.tokens.size() == 1) result.first_token_ms = MillisecondsSinceSubmit();
  if (!asked.ignore_end && std::ranges::binary_search(end_tokens, token)) {
    return Finish(FinishReason::kEndToken);
  }
  if (std::ranges::find(asked.stop_tokens, token) != asked.stop_tokens.end()) {
    return Finish(FinishReason::kStopToken);
  }
  std::string said;
  if (output) {
    AICF_ASSIGN_OR_RETURN(said, output->Push(token));
    result.text += said;
    if (output->stopped()) return said + Finish(FinishReason::kStopText);
  }
  if (sequence.known() < sequence.most_tokens) return said;
  return said + Finish(ends_with_context ? FinishReason::kContext : FinishReason::kLength);
}

std::string Request::Finish(FinishReason reason) {
  result.finish = reason;
  result.preemptions = sequence.preemptions;
  result.total_ms = MillisecondsSinceSubmit();
  if (!output) return {};
  std::string rest = output->Finish();
  result.text += rest;
  return rest;
}

}  // namespace aicf::language
