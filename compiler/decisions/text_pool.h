/// Texts that occur again and again, each kept once.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace aicf {

/// Numbers stay valid, and texts stay where they are, as long as the pool lives and is not assigned
/// to.
class TextPool {
 public:
  TextPool() = default;
  TextPool(TextPool&&) = default;
  TextPool& operator=(TextPool&&) = default;
  TextPool(const TextPool& other) { *this = other; }
  TextPool& operator=(const TextPool& other);

  /// The text's number: the same for equal texts, from 0 on in the order in which they came.
  uint32_t Add(std::string_view text);
  std::string_view At(uint32_t number) const { return texts_[number]; }

 private:
  void Grow();
  std::string_view Keep(std::string_view text);

  std::deque<std::string> chunks_;       // each has the capacity that it began with
  std::vector<std::string_view> texts_;  // by number, in the chunks
  std::vector<uint32_t> slots_;          // open addressing by hash: number + 1, or 0
};

}  // namespace aicf
