// Index arithmetic of the families that move elements by index: gather and scatter.
#pragma once

namespace aicf {

/// `index` as counted from the start; a negative one is counted from the end. -1 when it is out of
/// range.
AICF_DEVICE i64 WrappedIndex(i64 index, i64 extent) {
  if (index < 0) index += extent;
  return index < extent && index >= 0 ? index : -1;
}

/// Element `offset` of an integer operand.
template <class X>
AICF_DEVICE i64 IndexAt(const void* base, index_t offset) {
  return static_cast<i64>(Widen(static_cast<const typename X::S*>(base)[offset]));
}

/// Number of elements of X along the axes [kFirst, kLast).
template <class X, int kFirst, int kLast>
AICF_DEVICE constexpr i64 CountOf() {
  i64 count = 1;
  for (int d = kFirst; d < kLast; ++d) count *= static_cast<i64>(X::extent(d));
  return count;
}

/// Offset in operand X of the row-major position `i` among the axes [kFirst, kLast) of Shape. Axis
/// d of Shape is axis d + kShift of X. Axis kSkip of Shape is no part of the position.
template <class Shape, class X, int kFirst, int kLast, int kShift = 0, int kSkip = -1>
AICF_DEVICE index_t OffsetOf(index_t i) {
  index_t offset = 0;
  uindex_t rest = static_cast<uindex_t>(i);
#pragma unroll
  for (int d = kLast - 1; d >= kFirst; --d) {
    if (d == kSkip) continue;
    const uindex_t extent = static_cast<uindex_t>(Shape::extent(d) > 0 ? Shape::extent(d) : 1);
    offset += static_cast<index_t>(rest % extent) * X::stride(d + kShift);
    rest /= extent;
  }
  return offset;
}

}  // namespace aicf
