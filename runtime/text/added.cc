#include "runtime/text/added.h"

#include <utf8proc.h>

#include "runtime/text/vocabulary.h"
#include "runtime/text/white.h"

namespace aicf::text {
namespace {

using schema::AddedToken;
using schema::TokenType;

std::vector<uint32_t> AddedIds(const schema::TokenizerData& data) {
  std::vector<uint32_t> ids;
  for (const AddedToken& added : data.added) ids.push_back(added.id);
  return ids;
}

bool IsWord(int32_t point) {
  if (point < 0) return false;
  const auto category = utf8proc_category(point);
  return point == '_' || (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NO);
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

std::vector<Segment> AddedTokens::Split(std::string_view text,
                                        std::span<const ByteRange> allowed) const {
  std::vector<Segment> segments;
  size_t begin = 0;  // of the text before the next token
  for (size_t at = 0; at < text.size();) {
    while (!allowed.empty() && allowed[0].end <= at) allowed = allowed.subspan(1);
    const bool special = !allowed.empty() && allowed[0].begin <= at;
    const AddedToken* best = nullptr;
    size_t bytes = 0;
    index_.Walk(text.substr(at), [&](uint32_t id, size_t length) {
      const AddedToken* token = by_id_.at(id);
      if (token->special && !(special && at + length <= allowed[0].end)) return;
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
