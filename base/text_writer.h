/// Builds texts of many pieces in one block of memory: like StrCat, but without a string for each
/// of the pieces.
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/dims.h"
#include "base/short_text.h"

namespace aicf {

/// Dims as a piece of a text: AsShape writes what ToString gives, AsList what ToListString gives.
struct AsShape {
  const Dims& dims;
};
struct AsList {
  const Dims& dims;
};

/// Values as the bytes that they have in memory, for texts that are only hashed, never read. A list
/// is written as its length in four bytes followed by its elements, dims as their rank in one byte
/// followed by eight bytes for each number.
template <class T>
concept HasBytes = std::has_unique_object_representations_v<T> || std::same_as<T, double>;
template <HasBytes T>
struct AsBytes {
  T value;
};
template <class T>
AsBytes(T) -> AsBytes<T>;
template <HasBytes T>
struct ListAsBytes {
  explicit ListAsBytes(std::span<const T> all) : list(all) {}
  std::span<const T> list;
};
struct DimsAsBytes {
  const Dims& dims;
};

/// A text that grows at its end. Up to kInPlace bytes are stored in the writer itself, without
/// allocating memory.
class TextWriter {
 public:
  TextWriter() = default;
  TextWriter(const TextWriter&) = delete;
  TextWriter& operator=(const TextWriter&) = delete;

  /// Appends the pieces one after the other. Texts, characters and integers are written as StrCat
  /// writes them; AsShape, AsList, AsBytes, ListAsBytes and DimsAsBytes as described above. An
  /// array of characters is taken for a literal: its last character, the NUL, is left out.
  template <class... Pieces>
  void Write(const Pieces&... pieces) {
    // The end is kept in a local variable while the pieces are written. A store through a char* may
    // alias the member end_, so the compiler would have to reload that after every piece.
    char* to = Room((Most(pieces) + ...));
    ((to = Put(to, pieces)), ...);
    end_ = to;
  }

  /// Valid until the next Write.
  std::string_view text() const { return {begin_, size()}; }
  std::string ToString() const { return std::string(text()); }

 private:
  static constexpr size_t kInPlace = 2048;
  static constexpr size_t kMaxDigits = 20;  // of an integer of 64 bits, its sign included
  static constexpr std::string_view kScalar = "scalar";
  static constexpr size_t kDimsBytes = kMaxRank * sizeof(int64_t);

  // Upper bound of the bytes that a piece takes.
  static size_t Most(std::string_view text) { return text.size(); }
  static size_t Most(char) { return 1; }
  template <std::integral T>
  static size_t Most(T) {
    return kMaxDigits;
  }
  static size_t Most(AsShape s) { return kScalar.size() + MostJoined(s.dims); }
  static size_t Most(AsList l) { return 2 + MostJoined(l.dims); }
  template <class T>
  static size_t Most(AsBytes<T>) {
    return sizeof(T);
  }
  template <class T>
  static size_t Most(ListAsBytes<T> l) {
    return sizeof(uint32_t) + l.list.size_bytes();
  }
  static size_t Most(DimsAsBytes) { return 1 + kDimsBytes; }
  static size_t MostJoined(const Dims& list) {
    return static_cast<size_t>(list.rank()) * (kMaxDigits + 2);
  }

  // Each writes a piece at `to` and returns the end of what it wrote.
  template <size_t kBytes>
  static char* Put(char* to, const char (&literal)[kBytes]) {
    std::memcpy(to, literal, kBytes - 1);
    return to + kBytes - 1;
  }
  static char* Put(char* to, std::string_view text) {
    CopyText(to, text);
    return to + text.size();
  }
  static char* Put(char* to, char character) {
    *to = character;
    return to + 1;
  }
  template <std::integral T>
  requires(!std::same_as<T, bool>) static char* Put(char* to, T number) {
    if (number < 0 || number > 9999) return std::to_chars(to, to + kMaxDigits, number).ptr;
    return PutSmall(to, static_cast<unsigned>(number));
  }
  static char* Put(char* to, AsShape s) {
    return s.dims.rank() == 0 ? Put(to, kScalar) : PutJoined(to, s.dims, "x");
  }
  static char* Put(char* to, AsList l) { return Put(PutJoined(Put(to, '['), l.dims, ", "), ']'); }

  template <class T>
  static char* Put(char* to, AsBytes<T> bytes) {
    std::memcpy(to, &bytes.value, sizeof(T));
    return to + sizeof(T);
  }
  template <class T>
  static char* Put(char* to, ListAsBytes<T> l) {
    to = Put(to, AsBytes{static_cast<uint32_t>(l.list.size())});
    if (!l.list.empty()) std::memcpy(to, l.list.data(), l.list.size_bytes());
    return to + l.list.size_bytes();
  }
  // Always copies all kMaxRank numbers; what is written next overwrites those beyond the rank.
  static char* Put(char* to, DimsAsBytes d) {
    const auto rank = static_cast<uint8_t>(d.dims.rank());
    to = Put(to, AsBytes{rank});
    std::memcpy(to, d.dims.begin(), kDimsBytes);
    return to + rank * sizeof(int64_t);
  }

  template <size_t kBytes>
  static char* PutJoined(char* to, const Dims& list, const char (&between)[kBytes]) {
    for (int i = 0; i < list.rank(); ++i) {
      if (i > 0) to = Put(to, between);
      to = Put(to, list[i]);
    }
    return to;
  }

  // Most numbers are small, and most of those have one digit.
  static char* PutSmall(char* to, unsigned number) {
    if (number < 10) return Put(to, static_cast<char>('0' + number));
    if (number < 100) return PutPair(to, number);
    const unsigned hundreds = number / 100;
    to = hundreds < 10 ? Put(to, static_cast<char>('0' + hundreds)) : PutPair(to, hundreds);
    return PutPair(to, number % 100);
  }
  static char* PutPair(char* to, unsigned number) {
    to[0] = static_cast<char>('0' + number / 10);
    to[1] = static_cast<char>('0' + number % 10);
    return to + 2;
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

}  // namespace aicf
