/// Copies that make cells of integers (igemm.h, IntegerForm).
#pragma once

#include <cstdint>

#include "kernels/abi/kernel.h"
#include "kernels/cpu/gemm/igemm.h"

namespace aicf::cpu {

/// Copies a tensor to cells that follow one another: axes in the given order, of which the last is
/// k. Its runs of `run` values become whole cells each, filled up with zeros. REQUIRES: `run`
/// divides the extent of k; u8 and i8 in kBytes, i16 too in kWords.
void CopyCells(const abi::ArgBlock& args, const abi::TensorArg& from, const int* order, int64_t run,
               IntegerForm form, abi::CpuIsa isa, void* to);

#define AICF_CELL_ROWS_OF(isa)                                                                     \
  namespace isa {                                                                                  \
  /** Copies `rows` times `count` values, row_stride and stride apart, to rows of `padded` values, \
   * zero beyond the count: bytes as they are, or words. */                                        \
  void CopyCellRows(const void* from, DType dtype, int64_t rows, int64_t row_stride,               \
                    int64_t count, int64_t stride, int64_t padded, bool words, void* to);          \
  }
AICF_CELL_ROWS_OF(baseline)
AICF_CELL_ROWS_OF(avx2)
AICF_CELL_ROWS_OF(avx512)
#undef AICF_CELL_ROWS_OF

}  // namespace aicf::cpu
