/// The tokens that a text begins with.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace aicf::text {

/// Spellings in order, walked byte by byte. Refers to the strings that it was made of, which stay
/// where they are. Immutable, so any number of threads may walk.
class PrefixIndex {
 public:
  PrefixIndex() = default;
  /// `ids` name the entries of `tokens` that are in the index: not empty, no two the same.
  PrefixIndex(const std::vector<std::string>& tokens, std::vector<uint32_t> ids);

  /// Calls found(id, length) for every token that `text` begins with, the shortest first.
  /// Cost: the logarithm of the number of tokens for each byte of the longest.
  template <class Found>
  void Walk(std::string_view text, Found found) const {
    if (text.empty() || ids_.empty()) return;
    auto [low, high] = first_[static_cast<uint8_t>(text[0])];
    for (size_t depth = 1; low < high; ++depth) {
      if (Spelling(low).size() == depth) found(ids_[low++], depth);
      if (depth == text.size()) return;
      Narrow(depth, static_cast<uint8_t>(text[depth]), &low, &high);
    }
  }

 private:
  std::string_view Spelling(uint32_t at) const { return (*tokens_)[ids_[at]]; }
  // Of [low, high), whose spellings are longer than `depth`, those with `byte` there.
  void Narrow(size_t depth, uint8_t byte, uint32_t* low, uint32_t* high) const;

  const std::vector<std::string>* tokens_ = nullptr;
  std::vector<uint32_t> ids_;
  std::array<std::pair<uint32_t, uint32_t>, 256> first_{};
};

}  // namespace aicf::text
