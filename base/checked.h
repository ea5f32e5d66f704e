/// Checked integer arithmetic for every size, offset and extent that a file or a caller names.
/// All functions return false on overflow and leave *out unspecified. Never throw, never trap.
#pragma once

#include <cstdint>
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

constexpr int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace aicf
