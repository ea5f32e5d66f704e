/// Added tokens in a text.
#pragma once

#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/text/prefix_index.h"
#include "schema/tokenizer.h"

namespace aicf::text {

/// A stretch of text, or, where `token` is set, an added token that stands in place of one.
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

  /// The segments of `text`, none of them empty: from the left, the longest added token that is
  /// spelled there; special ones only inside one of `allowed`, which are ranges of bytes that
  /// ascend. Cost: the text's bytes, times the length of the longest added token at worst.
  std::vector<Segment> Split(std::string_view text, std::span<const ByteRange> allowed) const;

  /// Whether an id is an added token that is special, or a control token.
  bool IsSpecial(uint32_t id) const;

 private:
  const schema::TokenizerData& data_;
  std::unordered_map<uint32_t, const schema::AddedToken*> by_id_;
  PrefixIndex index_;
};

}  // namespace aicf::text
