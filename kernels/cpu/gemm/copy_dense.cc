#include "kernels/cpu/gemm/copy_dense.h"

#include <algorithm>

#include "kernels/cpu/gemm/panels.h"
#include "kernels/cpu/gemm/planes.h"

namespace aicf::cpu {
namespace {

// The two innermost axes of the copy: `to` is dense, rows x cols.
void CopyPlane(const void* from, DType dtype, int64_t offset, int64_t rows, int64_t row_stride,
               int64_t cols, int64_t col_stride, WidenRunFn widen, float* to) {
  if (dtype != DType::kF32 && col_stride == 1) {
    const int64_t bytes = DTypeBytes(dtype);
    const char* first = static_cast<const char*>(from) + offset * bytes;
    // Rows that follow one another are one run.
    if (row_stride == cols) return widen(first, dtype, rows * cols, to);
    for (int64_t r = 0; r < rows; ++r) {
      widen(first + r * row_stride * bytes, dtype, cols, to + r * cols);
    }
    return;
  }
  // Copied in tiles, so that both sides stay in the cache even if one of them is walked across its
  // cache lines.
  constexpr int64_t kTile = 32;
  const float* f32 = dtype == DType::kF32 ? static_cast<const float*>(from) + offset : nullptr;
  for (int64_t r0 = 0; r0 < rows; r0 += kTile) {
    const int64_t r1 = std::min(rows, r0 + kTile);
    for (int64_t c0 = 0; c0 < cols; c0 += kTile) {
      const int64_t c1 = std::min(cols, c0 + kTile);
      for (int64_t r = r0; r < r1; ++r) {
        float* out = to + r * cols;
        const int64_t at = r * row_stride;
        if (f32 != nullptr) {
          for (int64_t c = c0; c < c1; ++c) out[c] = f32[at + c * col_stride];
        } else {
          for (int64_t c = c0; c < c1; ++c) {
            out[c] = LoadF32(from, dtype, offset + at + c * col_stride);
          }
        }
      }
    }
  }
}

}  // namespace

void CopyDense(const abi::ArgBlock& args, const abi::TensorArg& from, const int* order,
               WidenRunFn widen, float* to) {
  const int row_axis = order[from.rank - 2], col_axis = order[from.rank - 1];
  const int64_t rows = from.shape[row_axis], cols = from.shape[col_axis];
  ForEachPlane(args, from, order, rows * cols, 16384, [&](int64_t offset, int64_t index) {
    CopyPlane(from.data, from.dtype, offset, rows, from.strides[row_axis], cols,
              from.strides[col_axis], widen, to + index * rows * cols);
  });
}

}  // namespace aicf::cpu
