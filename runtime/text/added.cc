#include "runtime/text/added.h"

#include <utf8proc.h>

#include "base/utf8.h"
#include "runtime/text/vocabulary.h"

namespace aicf::text {
namespace {

using schema::AddedToken;
using schema::TokenType;

std::vector<uint32_t> AddedIds(const schema::TokenizerData& data) {
  std::vector<uint32_t> ids;
  for (const AddedToken& added : data.added) ids.push_back(added.id);
  return ids;
}

int32_t PointAt(std::string_view text) {
  int32_t point = -1;
  const size_t length = text.empty() ? 0 : Utf8Length(text);
  if (length != 0) {
    utf8proc_iterate(reinterpret_cast<const uint8_t*>(text.data()),
                     static_cast<utf8proc_ssize_t>(length), &point);
  }
  return point;
}

// The last character of `text`, -1 where it ends in no character.
std::string_view LastCharacter(std::string_view text) {
  for (size_t length = 1; length <= 4 && length <= text.size(); ++length) {
    const std::string_view last = text.substr(text.size() - length);
    if (Utf8Length(last) == length) return last;
  }
  return {};
}

bool IsWord(int32_t point) {
  if (point < 0) return false;
  const auto category = utf8proc_category(point);
  return point == '_' || (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NO);
}

bool IsWhite(int32_t point) {
  if (point < 0) return false;
  const auto category = utf8proc_category(point);
  return (point >= 9 && point <= 13) || point == 0x85 ||
         (category >= UTF8PROC_CATEGORY_ZS && category <= UTF8PROC_CATEGORY_ZP);
}

size_t WhiteAtEnd(std::string_view text) {
  size_t bytes = 0;
  for (;;) {
    const std::string_view last = LastCharacter(text.substr(0, text.size() - bytes));
    if (!IsWhite(PointAt(last))) return bytes;
    bytes += last.size();
  }
}

size_t WhiteAtStart(std::string_view text) {
  size_t bytes = 0;
  while (IsWhite(PointAt(text.substr(bytes)))) bytes += Utf8Length(text.substr(bytes));
  return bytes;
}

}  // namespace

AddedTokens::AddedTokens(const schema::TokenizerData& data)
    : data_(data), index_(data.tokens, AddedIds(data)) {
  for (const AddedToken& added : data.added) by_id_.emplace(added.id, &added);
}

bool AddedTokens::IsSpecial(uint32_t id) const {
  const auto found = by_id_.find(id);
  return (found != by_id_.end() && found->second->special) ||
         TypeOf(data_, id) == TokenType::kControl;
}

std::vector<Segment> AddedTokens::Split(std::string_view text, bool allow_special) const {
  std::vector<Segment> segments;
  size_t begin = 0;  // of the text before the next token
  for (size_t at = 0; at < text.size();) {
    const AddedToken* best = nullptr;
    size_t bytes = 0;
    index_.Walk(text.substr(at), [&](uint32_t id, size_t length) {
      const AddedToken* token = by_id_.at(id);
      if (token->special && !allow_special) return;
      if (token->single_word && (IsWord(PointAt(LastCharacter(text.substr(0, at)))) ||
                                 IsWord(PointAt(text.substr(at + length))))) {
        return;
      }
      best = token, bytes = length;
    });
    if (best == nullptr) {
      ++at;
      continue;
    }
    std::string_view before = text.substr(begin, at - begin);
    if (best->strip_left) before.remove_suffix(WhiteAtEnd(before));
    if (!before.empty()) segments.push_back({before, nullptr});
    segments.push_back({text.substr(at, bytes), best});
    at += bytes;
    if (best->strip_right) at += WhiteAtStart(text.substr(at));
    begin = at;
  }
  if (begin < text.size()) segments.push_back({text.substr(begin), nullptr});
  return segments;
}

}  // namespace aicf::text
