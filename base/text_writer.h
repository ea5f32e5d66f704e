/// Texts of many pieces, written into one block: StrCat without a string for each of them.
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "base/dims.h"

namespace aicf {

/// A text that grows at its end. One of up to kInPlace bytes takes no memory but the writer's own.
class TextWriter {
 public:
  TextWriter() = default;
  TextWriter(const TextWriter&) = delete;
  TextWriter& operator=(const TextWriter&) = delete;

  /// The pieces one after the other, as StrCat writes them: texts, characters and integers.
  template <class... Pieces>
  void Write(const Pieces&... pieces) {
    (Piece(pieces), ...);
  }

  /// The numbers of a list with `between` (at most two characters) between them.
  void WriteJoined(const Dims& list, std::string_view between) {
    char* to = Room(kMaxRank * (kMaxDigits + 2));
    for (int i = 0; i < list.rank(); ++i) {
      if (i > 0) {
        for (char c : between) *to++ = c;
      }
      to = Digits(to, list[i]);
    }
    end_ = to;
  }

  /// Valid until the next Write.
  std::string_view text() const { return {begin_, size()}; }
  std::string ToString() const { return std::string(text()); }

 private:
  static constexpr size_t kInPlace = 2048;
  static constexpr size_t kMaxDigits = 20;  // of an integer of 64 bits, its sign included

  void Piece(std::string_view text) {
    char* const to = Room(text.size());
    // Most pieces are shorter than a call is long.
    if (text.size() < 8) {
      for (size_t i = 0; i < text.size(); ++i) to[i] = text[i];
    } else {
      std::memcpy(to, text.data(), text.size());
    }
    end_ = to + text.size();
  }
  void Piece(char character) {
    *Room(1) = character;
    ++end_;
  }
  template <std::integral T>
  requires(!std::same_as<T, bool>) void Piece(T number) {
    char* const to = Room(kMaxDigits);
    end_ = Digits(to, number);
  }

  // Most numbers are small, and most of those have one digit.
  template <std::integral T>
  static char* Digits(char* to, T number) {
    if (number >= 0 && number < 10) {
      *to = static_cast<char>('0' + number);
      return to + 1;
    }
    return std::to_chars(to, to + kMaxDigits, number).ptr;
  }

  size_t size() const { return static_cast<size_t>(end_ - begin_); }
  char* Room(size_t bytes) {
    if (static_cast<size_t>(limit_ - end_) < bytes) Grow(bytes);
    return end_;
  }
  void Grow(size_t bytes) {
    const size_t used = size(), capacity = 2 * used + bytes;
    auto larger = std::make_unique_for_overwrite<char[]>(capacity);
    std::memcpy(larger.get(), begin_, used);
    heap_ = std::move(larger);
    begin_ = heap_.get();
    end_ = begin_ + used;
    limit_ = begin_ + capacity;
  }

  char in_place_[kInPlace];
  std::unique_ptr<char[]> heap_;
  char* begin_ = in_place_;
  char* end_ = in_place_;
  char* limit_ = in_place_ + kInPlace;
};

/// ToString and ToListString.
void WriteExtents(TextWriter& out, const Dims& d);
void WriteList(TextWriter& out, const Dims& d);

}  // namespace aicf
