#include "kernels/cpu/gemm/integer_copy.h"

#include "kernels/cpu/gemm/integer_cells.h"
#include "kernels/cpu/gemm/planes.h"

namespace aicf::cpu {
namespace {

using CopyRowsFn = decltype(&baseline::CopyCellRows);

CopyRowsFn CopyRowsOf(abi::CpuIsa isa) {
  if (isa == abi::CpuIsa::kAvx512) return &avx512::CopyCellRows;
  return isa == abi::CpuIsa::kAvx2 ? &avx2::CopyCellRows : &baseline::CopyCellRows;
}

}  // namespace

void CopyCells(const abi::ArgBlock& args, const abi::TensorArg& from, const int* order, int64_t run,
               IntegerForm form, abi::CpuIsa isa, void* to) {
  const int k = order[from.rank - 1], row_axis = order[from.rank - 2];
  const int64_t runs = run > 0 ? from.shape[k] / run : 0;
  const int64_t rows = from.shape[row_axis];
  const int64_t row_stride = from.strides[row_axis], stride = from.strides[k];
  const int64_t run_bytes = CellsOf(form, run) * int64_t{sizeof(float)};
  const int64_t padded = CellsOf(form, run) * ValuesPerCell(form);
  const bool words = form == IntegerForm::kWords;
  const CopyRowsFn copy = CopyRowsOf(isa);
  const int64_t bytes = DTypeBytes(from.dtype), plane_bytes = rows * runs * run_bytes;
  ForEachPlane(args, from, order, plane_bytes, 65536, [&](int64_t offset, int64_t index) {
    const char* first = static_cast<const char*>(from.data) + offset * bytes;
    char* out = static_cast<char*>(to) + index * plane_bytes;
    if (runs == 1) {
      return copy(first, from.dtype, rows, row_stride, run, stride, padded, words, out);
    }
    for (int64_t r = 0; r < rows; ++r, out += runs * run_bytes) {
      copy(first + r * row_stride * bytes, from.dtype, runs, run * stride, run, stride, padded,
           words, out);
    }
  });
}

}  // namespace aicf::cpu
