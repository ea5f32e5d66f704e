#include "runtime/text/vocabulary.h"

#include <algorithm>

#include "base/utf8.h"

namespace aicf::text {

using schema::TokenizerData;
using schema::TokenType;

size_t CharacterLength(std::string_view text) { return std::max<size_t>(1, Utf8Length(text)); }

Result<Vocabulary> Vocabulary::Make(const TokenizerData& data) {
  Vocabulary made;
  made.unknown_ = data.unknown;
  made.fuse_unknown_ = data.fuse_unknown;
  for (uint32_t id = 0; id < data.tokens.size(); ++id) {
    const std::string_view spelling = data.tokens[id];
    const TokenType type = TypeOf(data, id);
    if (type == TokenType::kByte) {
      made.bytes_[*ByteOf(spelling)] = id;
    } else if ((type == TokenType::kNormal || type == TokenType::kUserDefined) &&
               !spelling.empty()) {
      const auto [other, fresh] = made.ids_.emplace(spelling, id);
      const TokenType others = TypeOf(data, other->second);
      if (!fresh && others == type) {
        return Error(Code::kBadModel, "tokenizer: tokens ", other->second, " and ", id,
                     " are spelled alike");
      }
      // Where a user-defined token is spelled like a normal one, merges make the normal one: the
      // user-defined one is looked for in the text earlier, before the vocabulary is asked.
      if (type == TokenType::kNormal) other->second = id;
      made.longest_ = std::max(made.longest_, spelling.size());
    }
  }
  return made;
}

std::optional<uint32_t> Vocabulary::Find(std::string_view spelling) const {
  const auto found = ids_.find(spelling);
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

std::vector<uint32_t> Vocabulary::Ids() const {
  std::vector<uint32_t> ids;
  for (const auto& [spelling, id] : ids_) ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  return ids;
}

void Vocabulary::AppendUnknown(std::string_view character, size_t begin,
                               std::vector<uint32_t>* ids) const {
  const auto has = [&](char c) { return bytes_[static_cast<uint8_t>(c)].has_value(); };
  if (std::all_of(character.begin(), character.end(), has)) {
    for (const char c : character) ids->push_back(*bytes_[static_cast<uint8_t>(c)]);
  } else if (unknown_ && !(fuse_unknown_ && ids->size() > begin && ids->back() == *unknown_)) {
    ids->push_back(*unknown_);
  }
}

}  // namespace aicf::text
