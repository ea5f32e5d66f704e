#include "runtime/text/splitter.h"

#include <algorithm>
#include <cstdint>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/utf8.h"

namespace aicf::text {
namespace {

using schema::SplitKeep;
using schema::SplitPattern;

constexpr size_t kMaxExpressionBytes = 4096;
// What one attempt to match may cost without being counted: this many steps on a window of this
// many bytes, so that no step walks over more. An attempt that needs more is repeated with the
// metered form of the expression, which tells its position at every item, and has a budget, growing
// with the text, for the bytes between one item and the next. So every text is split, or refused,
// in time proportional to its length.
constexpr uint32_t kFreeSteps = 128;
constexpr size_t kFreeBytes = 64;
constexpr uint32_t kMaxSteps = 1u << 30;
constexpr uint32_t kMaxHeapKib = 65536;
constexpr uint64_t kBudget = 50'000'000, kBudgetPerByte = 64;

Status TooManySteps() {
  return Error(Code::kResource, "tokenizer: an expression takes too many steps on this text");
}

// Whether the expression repeats something a thousand times or more: the meter sees all repetitions
// as one item.
bool HasLongRepeat(std::string_view expression) {
  for (size_t at = 0; (at = expression.find('{', at)) != expression.npos; ++at) {
    if (expression.substr(0, at).ends_with("\\x")) continue;  // a character's number
    std::string_view rest = expression.substr(at + 1);
    rest = rest.substr(0, rest.find_first_not_of("0123456789,"));
    const size_t comma = rest.find(',');
    if (rest.substr(0, comma).size() > 3) return true;
    if (comma != rest.npos && rest.size() - comma > 4) return true;
  }
  return false;
}

size_t ValidLength(std::string_view text) {
  size_t valid = 0;
  while (valid < text.size()) {
    const size_t length = Utf8Length(text.substr(valid));
    if (length == 0) break;
    valid += length;
  }
  return valid;
}

}  // namespace

// Attempts to match in texts, which are valid UTF-8 and have `bytes` bytes together.
class Splitter::Matcher {
 public:
  Matcher(const pcre2_code* code, const pcre2_code* metered, uint64_t bytes)
      : code_(code),
        metered_(metered),
        data_(pcre2_match_data_create(1, nullptr)),
        context_(pcre2_match_context_create(nullptr)),
        budget_(kBudget + kBudgetPerByte * bytes) {
    if (context_) {
      pcre2_set_heap_limit(context_.get(), kMaxHeapKib);
      pcre2_set_callout(context_.get(), &Matcher::Meter, this);
    }
  }

  // Bytes of the match at `at`; 0 where there is none, or an empty one.
  Result<size_t> MatchAt(std::string_view text, size_t at) {
    if (!data_ || !context_) return Status::OutOfMemory();
    const size_t seen = WindowEnd(text, at, kFreeBytes);
    pcre2_set_match_limit(context_.get(), kFreeSteps);
    int rc = Attempt(code_, text, at, seen, seen < text.size() ? PCRE2_PARTIAL_HARD : 0);
    if (rc == PCRE2_ERROR_PARTIAL || rc == PCRE2_ERROR_MATCHLIMIT) {
      pcre2_set_match_limit(context_.get(), kMaxSteps);
      place_ = at;
      rc = Attempt(metered_, text, at, text.size(), 0);
    }
    if (rc == PCRE2_ERROR_NOMATCH) return size_t{0};
    // The meter's limit, the heap's, or no memory: nothing else can happen here.
    if (rc < 0) return TooManySteps();
    // \K can move the beginning: what lies before it is then part of the match all the same.
    const size_t end = pcre2_get_ovector_pointer(data_.get())[1];
    return end > at ? end - at : size_t{0};
  }

 private:
  // The end of the window of the text that an attempt sees. By a partial match the attempt says
  // that it would have looked further.
  static size_t WindowEnd(std::string_view text, size_t at, size_t window) {
    if (window >= text.size() - at) return text.size();
    size_t end = at + window;
    while ((static_cast<uint8_t>(text[end]) & 0xc0) == 0x80) ++end;
    return end;
  }

  int Attempt(const pcre2_code* code, std::string_view text, size_t at, size_t seen,
              uint32_t options) {
    return pcre2_match(code, reinterpret_cast<PCRE2_SPTR>(text.data()), seen, at,
                       PCRE2_ANCHORED | PCRE2_NO_UTF_CHECK | options, data_.get(), context_.get());
  }

  // Called before every item of the metered form; another value than 0 ends the attempt.
  static int Meter(pcre2_callout_block* block, void* self) {
    auto& matcher = *static_cast<Matcher*>(self);
    const size_t place = block->current_position;
    const size_t way = place > matcher.place_ ? place - matcher.place_ : matcher.place_ - place;
    matcher.place_ = place;
    if (way + 1 > matcher.budget_) return PCRE2_ERROR_CALLOUT;
    matcher.budget_ -= way + 1;
    return 0;
  }

  struct FreeMatch {
    void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
    void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
  };

  const pcre2_code *code_, *metered_;
  std::unique_ptr<pcre2_match_data, FreeMatch> data_;
  std::unique_ptr<pcre2_match_context, FreeMatch> context_;
  uint64_t budget_;
  size_t place_ = 0;  // in the text, at the last item
};

struct Splitter::Code {
  Code(pcre2_code* plain, pcre2_code* with_meter) : code(plain), metered(with_meter) {}
  ~Code() {
    pcre2_code_free(code);
    pcre2_code_free(metered);
  }
  Code(const Code&) = delete;
  pcre2_code *code, *metered;
};

Result<Splitter> Splitter::Make(const SplitPattern& pattern) {
  const std::string& expression = pattern.expression;
  if (expression.size() > kMaxExpressionBytes) {
    return Error(aicf::Code::kUnsupported, "tokenizer: an expression of ", expression.size(),
                 " bytes, the limit is ", kMaxExpressionBytes);
  }
  if (HasLongRepeat(expression)) {
    return Error(aicf::Code::kUnsupported,
                 "tokenizer: an expression repeats something a thousand times or more");
  }
  int number = 0;
  PCRE2_SIZE offset = 0;
  const auto compile = [&](uint32_t options) {
    return pcre2_compile(reinterpret_cast<PCRE2_SPTR>(expression.data()), expression.size(),
                         PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C | options, &number,
                         &offset, nullptr);
  };
  auto code = std::make_shared<const Code>(compile(0), compile(PCRE2_AUTO_CALLOUT));
  if (code->code == nullptr || code->metered == nullptr) {
    PCRE2_UCHAR message[256] = {};
    pcre2_get_error_message(number, message, sizeof(message));
    return Error(aicf::Code::kBadModel, "tokenizer: an expression is wrong at byte ", offset, ": ",
                 reinterpret_cast<const char*>(message));
  }
  uint32_t references = 0;
  pcre2_pattern_info(code->code, PCRE2_INFO_BACKREFMAX, &references);
  if (references != 0) {
    // An item that refers back compares as many bytes as the group has, which the meter does not
    // see.
    return Error(aicf::Code::kUnsupported, "tokenizer: an expression refers back to a group");
  }
  Splitter made;
  made.code_ = std::move(code);
  made.keep_ = pattern.keep;
  return made;
}

Result<std::vector<std::string_view>> Splitter::Split(
    const std::vector<std::string_view>& texts) const {
  uint64_t bytes = 0;
  for (const std::string_view text : texts) bytes += text.size();
  Matcher matcher(code_->code, code_->metered, bytes);
  std::vector<std::string_view> pieces;
  for (const std::string_view text : texts) AICF_RETURN_IF_ERROR(SplitOne(text, &matcher, &pieces));
  return pieces;
}

Status Splitter::SplitOne(std::string_view text, Matcher* matcher,
                          std::vector<std::string_view>* pieces) const {
  size_t gap = 0;  // where what matches nothing begins
  const auto end_gap = [&](size_t end) {
    if (end > gap && keep_ != SplitKeep::kMatches) pieces->push_back(text.substr(gap, end - gap));
  };
  for (size_t run = 0; run < text.size();) {
    const std::string_view valid = text.substr(run, ValidLength(text.substr(run)));
    for (size_t at = 0; at < valid.size();) {
      AICF_ASSIGN_OR_RETURN(const size_t length, matcher->MatchAt(valid, at));
      if (length == 0) {
        at += Utf8Length(valid.substr(at));
        continue;
      }
      end_gap(run + at);
      if (keep_ != SplitKeep::kGaps) pieces->push_back(valid.substr(at, length));
      at += length;
      gap = run + at;
    }
    run += valid.size() + 1;  // a byte that is not UTF-8 is part of a gap
  }
  end_gap(text.size());
  return OkStatus();
}

}  // namespace aicf::text
