/// Copies of two-dimensional strided planes, by element size: the inner part of every copy.
#pragma once

#include <cstdint>

namespace aicf::cpu {

/// out[r * out_row + c * out_col] = in[r * in_row + c * in_col], strides in elements.
struct CopyPlane {
  const void* in;
  void* out;
  int64_t in_row, in_col;
  int64_t out_row, out_col;
  int64_t rows, cols;
};

using CopyPlaneFn = void (*)(const CopyPlane& plane);

/// For elements of 1, 2, 4 or 8 bytes.
namespace baseline {
CopyPlaneFn FindCopyPlane(int64_t bytes);
}
namespace avx2 {
CopyPlaneFn FindCopyPlane(int64_t bytes);
}
namespace avx512 {
CopyPlaneFn FindCopyPlane(int64_t bytes);
}

}  // namespace aicf::cpu
