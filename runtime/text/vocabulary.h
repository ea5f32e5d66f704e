/// Tokens by their spelling, and what stands for text that has none.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "schema/tokenizer.h"

namespace aicf::text {

using schema::ByteOf;

/// Bytes of the character at the start of `text`, 1 where there is none. REQUIRES: text is not
/// empty.
size_t CharacterLength(std::string_view text);

class Vocabulary {
 public:
  /// The tokens that text may become: normal ones, and those a user has defined.
  /// Errors: kBadModel where two are spelled alike.
  static Result<Vocabulary> Make(const schema::TokenizerData& data);

  std::optional<uint32_t> Find(std::string_view spelling) const;
  size_t longest() const { return longest_; }  ///< bytes of the longest token
  std::vector<uint32_t> Ids() const;

  /// Appends what stands for a character without a token: its bytes' tokens where all of them are
  /// there, else the unknown token, else nothing.
  /// Where the tokenizer fuses unknown tokens, neighbours in the same piece become one; the piece's
  /// first id is at `begin`.
  void AppendUnknown(std::string_view character, size_t begin, std::vector<uint32_t>* ids) const;

 private:
  std::unordered_map<std::string_view, uint32_t> ids_;
  std::array<std::optional<uint32_t>, 256> bytes_{};
  std::optional<uint32_t> unknown_;
  bool fuse_unknown_ = false;
  size_t longest_ = 0;
};

}  // namespace aicf::text
