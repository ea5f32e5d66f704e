// Loads and stores of blocks: strided copies by element size, and the conversions of the dtypes
// that are not computed with.
#include <cstring>

#include "kernels/cpu/expr/block_ops.h"
#include "kernels/cpu/expr/half.h"
#include "kernels/cpu/expr/stored.h"

AICF_ISA_BEGIN
namespace {

/// Copies one row; strides of 1 and 0 are the common ones.
template <class T>
void CopyRow(const T* from, int64_t from_stride, T* to, int64_t to_stride, int64_t cols) {
  if (from_stride == 1 && to_stride == 1) {
    std::memcpy(to, from, static_cast<size_t>(cols) * sizeof(T));
  } else if (from_stride == 0 && to_stride == 1) {
    const T value = *from;
    for (int64_t c = 0; c < cols; ++c) to[c] = value;
  } else {
    for (int64_t c = 0; c < cols; ++c) to[c * to_stride] = from[c * from_stride];
  }
}

template <class T>
void CopyRows(const void* from, int64_t from_row, int64_t from_col, void* to, int64_t to_row,
              int64_t to_col, int64_t rows, int64_t cols) {
  const T* source = static_cast<const T*>(from);
  T* target = static_cast<T*>(to);
  for (int64_t r = 0; r < rows; ++r) {
    CopyRow(source + r * from_row, from_col, target + r * to_row, to_col, cols);
  }
}

void CopyElements(int64_t bytes, const void* from, int64_t from_row, int64_t from_col, void* to,
                  int64_t to_row, int64_t to_col, int64_t rows, int64_t cols) {
  const auto copy = bytes == 1   ? &CopyRows<uint8_t>
                    : bytes == 2 ? &CopyRows<uint16_t>
                    : bytes == 4 ? &CopyRows<uint32_t>
                                 : &CopyRows<uint64_t>;
  copy(from, from_row, from_col, to, to_row, to_col, rows, cols);
}

/// Calls f(first, count) on stretches of the dense block, each within one row and at most 256 long.
template <class F>
void ForStretches(int64_t rows, int64_t cols, F&& f) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < cols; c += 256) f(r, c, cols - c < 256 ? cols - c : 256);
  }
}

void WidenHalf(const BlockInput& in, int64_t rows, int64_t cols, float* dense) {
  uint16_t staged[256];
  const auto* source = static_cast<const uint16_t*>(in.data);
  if (in.col_stride == 1 && in.row_stride == cols) {
    cols *= rows;
    rows = 1;
  }
  ForStretches(rows, cols, [&](int64_t r, int64_t c, int64_t n) {
    const uint16_t* from = source + r * in.row_stride + c * in.col_stride;
    if (in.col_stride != 1) {
      CopyRow(from, in.col_stride, staged, 1, n);
      from = staged;
    }
    float* to = dense + r * cols + c;
    if (in.dtype == DType::kF16) {
      WidenF16(from, to, n);
    } else {
      WidenBF16(from, to, n);
    }
  });
}

void NarrowHalf(const float* dense, int64_t rows, int64_t cols, const BlockOutput& out) {
  uint16_t staged[256];
  auto* target = static_cast<uint16_t*>(out.data);
  if (out.col_stride == 1 && out.row_stride == cols) {
    cols *= rows;
    rows = 1;
  }
  ForStretches(rows, cols, [&](int64_t r, int64_t c, int64_t n) {
    uint16_t* to = target + r * out.row_stride + c * out.col_stride;
    uint16_t* const narrow = out.col_stride == 1 ? to : staged;
    const float* from = dense + r * cols + c;
    if (out.dtype == DType::kF16) {
      NarrowF16(from, narrow, n);
    } else {
      NarrowBF16(from, narrow, n);
    }
    if (narrow == staged) CopyRow(static_cast<const uint16_t*>(staged), 1, to, out.col_stride, n);
  });
}

void WidenRows(const BlockInput& in, int64_t rows, int64_t cols, float* dense) {
  const auto* source = static_cast<const uint8_t*>(in.data);
  for (int64_t r = 0; r < rows; ++r) {
    WidenFloat8(in.dtype, source + r * in.row_stride, in.col_stride, cols, dense + r * cols);
  }
}

/// Narrows rows of a dense block. value.step is 1, or 0 where one value is stored everywhere.
void NarrowRows(const BlockOperand& value, int64_t rows, int64_t cols, const BlockOutput& out) {
  const int64_t bytes = IsFloat(out.dtype) ? 4 : 1;
  for (int64_t r = 0; r < rows; ++r) {
    NarrowStored(out.dtype, static_cast<const char*>(value.data) + r * cols * value.step * bytes,
                 value.step, cols, static_cast<uint8_t*>(out.data) + r * out.row_stride,
                 out.col_stride);
  }
}

void StoreUniform(const void* value, int64_t rows, int64_t cols, const BlockOutput& out) {
  if (out.dtype == DType::kF16 || out.dtype == DType::kBF16) {
    uint16_t narrow = 0;
    BlockOutput one = out;
    one.data = &narrow;
    NarrowHalf(static_cast<const float*>(value), 1, 1, one);
    CopyElements(2, &narrow, 0, 0, out.data, out.row_stride, out.col_stride, rows, cols);
    return;
  }
  CopyElements(DTypeBytes(out.dtype), value, 0, 0, out.data, out.row_stride, out.col_stride, rows,
               cols);
}

}  // namespace

void LoadBlock(const BlockInput& in, int64_t rows, int64_t cols, void* dense) {
  if (in.dtype == DType::kF16 || in.dtype == DType::kBF16) {
    return WidenHalf(in, rows, cols, static_cast<float*>(dense));
  }
  if (IsStorageOnly(in.dtype) && IsFloat(in.dtype)) {
    return WidenRows(in, rows, cols, static_cast<float*>(dense));
  }
  CopyElements(DTypeBytes(in.dtype), in.data, in.row_stride, in.col_stride, dense, cols, 1, rows,
               cols);
  if (in.dtype != DType::kBool) return;
  auto* flags = static_cast<uint8_t*>(dense);
  for (int64_t i = 0; i < rows * cols; ++i) flags[i] = flags[i] != 0;
}

void StoreBlock(const BlockOperand& value, int64_t rows, int64_t cols, const BlockOutput& out) {
  if (IsStorageOnly(out.dtype)) return NarrowRows(value, rows, cols, out);
  if (value.step == 0) return StoreUniform(value.data, rows, cols, out);
  if (out.dtype == DType::kF16 || out.dtype == DType::kBF16) {
    return NarrowHalf(static_cast<const float*>(value.data), rows, cols, out);
  }
  CopyElements(DTypeBytes(out.dtype), value.data, cols, 1, out.data, out.row_stride, out.col_stride,
               rows, cols);
}

AICF_ISA_END
