/// Added tokens in a text.
#pragma once

#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/text/prefix_index.h"
#include "schema/tokenizer.h"

namespace aicf::text {

/// A stretch of text to be encoded or, where `token` is set, the text that spells this added token.
struct Segment {
  std::string_view text;
  const schema::AddedToken* token = nullptr;
};

struct ByteRange {
  size_t begin = 0, end = 0;
};

/// Refers to the data that it was made of. Immutable.
class AddedTokens {
 public:
  /// REQUIRES: schema::CheckTokenizerData has passed `data`.
  explicit AddedTokens(const schema::TokenizerData& data);

  /// Cuts `text` into segments, none of them empty. Going from the left, the longest added token
  /// that is spelled at a place becomes a segment; special tokens count only inside one of the byte
  /// ranges `allowed`, which ascend. Cost: the text's bytes, times the length of the longest added
  /// token at worst.
  std::vector<Segment> Split(std::string_view text, std::span<const ByteRange> allowed) const;

  /// Whether an id is an added token that is special, or a control token.
  bool IsSpecial(uint32_t id) const;

 private:
  const schema::TokenizerData& data_;
  std::unordered_map<uint32_t, const schema::AddedToken*> by_id_;
  PrefixIndex index_;
};

}  // namespace aicf::text
