/// Checked integer arithmetic for every size, offset and extent that a file or a caller names.
/// The functions return false on overflow and leave *out unspecified. For a calculation of several
/// operations, the class Checked remembers whether any of them overflowed. Nothing here throws or
/// traps.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>

namespace aicf {

template <class T>
[[nodiscard]] constexpr bool CheckedAdd(T a, T b, T* out) {
  return !__builtin_add_overflow(a, b, out);
}
template <class T>
[[nodiscard]] constexpr bool CheckedSub(T a, T b, T* out) {
  return !__builtin_sub_overflow(a, b, out);
}
template <class T>
[[nodiscard]] constexpr bool CheckedMul(T a, T b, T* out) {
  return !__builtin_mul_overflow(a, b, out);
}

/// True when [offset, offset + length) lies inside [0, size), without forming a sum that can wrap.
[[nodiscard]] constexpr bool InRange(uint64_t offset, uint64_t length, uint64_t size) {
  return offset <= size && length <= size - offset;
}

/// Smallest multiple of `alignment` (a power of two) that is >= value; false on overflow.
[[nodiscard]] constexpr bool CheckedAlignUp(uint64_t value, uint64_t alignment, uint64_t* out) {
  uint64_t sum = 0;
  if (!CheckedAdd(value, alignment - 1, &sum)) return false;
  *out = sum & ~(alignment - 1);
  return true;
}

constexpr bool IsPowerOfTwo(uint64_t v) { return v != 0 && (v & (v - 1)) == 0; }

/// The quotient rounded up, which never overflows. REQUIRES: b > 0.
constexpr int64_t CeilDiv(int64_t a, int64_t b) { return a / b + (a % b > 0 ? 1 : 0); }

/// A number in a calculation that may leave the range of int64_t: Checked(a) * b + c. Once an
/// operation has overflowed, every result that depends on it counts as overflowed too, and compares
/// unequal to everything.
class Checked {
 public:
  constexpr Checked(int64_t value) : value_(value) {}  // NOLINT(google-explicit-constructor)

  constexpr bool ok() const { return ok_; }
  /// The result; nullopt when the calculation overflowed.
  constexpr std::optional<int64_t> value() const {
    return ok_ ? std::optional<int64_t>(value_) : std::nullopt;
  }
  /// True when the calculation did not overflow and its result lies in [low, high].
  constexpr bool In(int64_t low, int64_t high) const {
    return ok_ && low <= value_ && value_ <= high;
  }

  friend constexpr Checked operator+(Checked a, Checked b) {
    Checked out(0);
    out.ok_ = CheckedAdd(a.value_, b.value_, &out.value_) && a.ok_ && b.ok_;
    return out;
  }
  friend constexpr Checked operator-(Checked a, Checked b) {
    Checked out(0);
    out.ok_ = CheckedSub(a.value_, b.value_, &out.value_) && a.ok_ && b.ok_;
    return out;
  }
  friend constexpr Checked operator*(Checked a, Checked b) {
    Checked out(0);
    out.ok_ = CheckedMul(a.value_, b.value_, &out.value_) && a.ok_ && b.ok_;
    return out;
  }
  friend constexpr bool operator==(Checked a, Checked b) {
    return a.ok_ && b.ok_ && a.value_ == b.value_;
  }

 private:
  int64_t value_;
  bool ok_ = true;
};

}  // namespace aicf
