#include "kernels/cpu/gemm/integer_copy.h"

#include <algorithm>

#include "kernels/cpu/common/parallel.h"
#include "kernels/cpu/gemm/integer_cells.h"

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
  const int rank = from.rank, k = order[rank - 1], row_axis = order[rank - 2];
  const int64_t runs = run > 0 ? from.shape[k] / run : 0;
  const int64_t rows = from.shape[row_axis];
  const int64_t run_bytes = CellsOf(form, run) * int64_t{sizeof(float)};
  int64_t outer = 1;
  for (int i = 0; i + 2 < rank; ++i) outer *= from.shape[order[i]];
  const int64_t padded = CellsOf(form, run) * ValuesPerCell(form);
  const bool words = form == IntegerForm::kWords;
  const CopyRowsFn copy = CopyRowsOf(isa);
  const int64_t bytes = DTypeBytes(from.dtype);
  const int64_t grain = std::max<int64_t>(1, 65536 / std::max<int64_t>(1, rows * runs * run_bytes));
  ParallelRanges(args, outer, grain, [&](int64_t begin, int64_t end) {
    for (int64_t index = begin; index < end; ++index) {
      int64_t offset = from.offset, rest = index;
      for (int i = rank - 3; i >= 0; --i) {
        offset += rest % from.shape[order[i]] * from.strides[order[i]];
        rest /= from.shape[order[i]];
      }
      const char* first = static_cast<const char*>(from.data) + offset * bytes;
      char* out = static_cast<char*>(to) + index * rows * runs * run_bytes;
      const int64_t row_stride = from.strides[row_axis], stride = from.strides[k];
      if (runs == 1) {
        copy(first, from.dtype, rows, row_stride, run, stride, padded, words, out);
        continue;
      }
      for (int64_t r = 0; r < rows; ++r, out += runs * run_bytes) {
        copy(first + r * row_stride * bytes, from.dtype, runs, run * stride, run, stride, padded,
             words, out);
      }
    }
  });
}

}  // namespace aicf::cpu
