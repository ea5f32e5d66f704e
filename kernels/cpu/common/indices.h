/// Index arithmetic of the families that move elements by index: gather, scatter, roi.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/abi/kernel.h"

namespace aicf::cpu {

/// Elements from the buffer's first byte to the element at coords, the view's offset included.
inline int64_t OffsetAt(const abi::TensorArg& t, const int64_t* coords) {
  int64_t offset = t.offset;
  for (int d = 0; d < t.rank; ++d) offset += coords[d] * t.strides[d];
  return offset;
}

/// The index counted from the start, negative ones from the end; -1 when it is out of range.
inline int64_t WrappedIndex(int64_t index, int64_t extent) {
  if (index < 0) index += extent;
  return index < extent && index >= 0 ? index : -1;
}

/// Element `offset` of an integer operand. REQUIRES: i32 or i64.
inline int64_t IndexAt(const abi::TensorArg& t, int64_t offset) {
  return t.dtype == DType::kI32 ? static_cast<const int32_t*>(t.data)[offset]
                                : static_cast<const int64_t*>(t.data)[offset];
}
inline bool IsPlainIndex(const abi::View& v) {
  return v.dtype == DType::kI32 || v.dtype == DType::kI64;
}

/// True when the last `axes` axes of the view are dense.
inline bool EndsDense(const abi::View& view, int axes) {
  int64_t expected = 1;
  for (int d = view.shape.rank() - 1; d >= view.shape.rank() - axes; --d) {
    if (view.shape[d] != 1 && view.strides[d] != expected) return false;
    expected *= view.shape[d];
  }
  return true;
}

/// True when the view's elements fill their memory without gaps, whatever the order of the axes.
inline bool IsPermutedDense(const abi::View& view) {
  int64_t expected = 1;
  bool seen[kMaxRank] = {};
  for (int found = 0; found < view.shape.rank(); ++found) {
    int axis = -1;
    for (int d = 0; d < view.shape.rank(); ++d) {
      const bool next = view.shape[d] == 1 || view.strides[d] == expected;
      if (!seen[d] && next) axis = d;
    }
    if (axis < 0) return false;
    seen[axis] = true;
    expected *= view.shape[axis];
  }
  return true;
}

/// Row-major coordinates of position `i` of a shape.
inline void CoordinatesOf(const Dims& shape, int64_t i, int64_t* coords) {
  for (int d = shape.rank() - 1; d >= 0; --d) {
    coords[d] = i % shape[d];
    i /= shape[d];
  }
}

/// Copies one element as bytes, so that every bit of a NaN survives.
inline void CopyElement(void* to, const void* from, int64_t bytes) {
  std::memcpy(to, from, static_cast<size_t>(bytes));
}

}  // namespace aicf::cpu
