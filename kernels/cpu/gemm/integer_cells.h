/// How integers of at most 16 bits become cells (igemm.h, IntegerForm): which form a product has,
/// and which operands can be read in place. Pure functions of the problem, used by the compiler and
/// by the kernels alike. Host code only.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"
#include "kernels/abi/kernel.h"
#include "kernels/cpu/gemm/igemm.h"

namespace aicf::cpu {

inline bool FitsWord(DType d) { return IsByteInteger(d) || d == DType::kI16; }

/// The form in which inputs[0] and inputs[1] of a gemm or a convolution are multiplied; kNone when
/// they are not integers that fit one.
inline IntegerForm IntegerFormOf(const abi::Problem& p) {
  const DType x = p.inputs[0].dtype, b = p.inputs[1].dtype;
  if (IsByteInteger(x) && b == DType::kI8) return IntegerForm::kBytes;
  return FitsWord(x) && FitsWord(b) ? IntegerForm::kWords : IntegerForm::kNone;
}

/// Empty, or why the products of integers cannot run the problem.
inline std::string IntegerRefusal(const abi::Problem& p) {
  if (IntegerFormOf(p) == IntegerForm::kNone) return "computes products of i8, u8 and i16 only";
  if (SumInputs(p) > 1) return "takes no product in two halves";
  if (p.extra_inputs() > kMaxEpilogueInputs) {
    return StrCat("more than ", kMaxEpilogueInputs, " epilogue operands");
  }
  return {};
}

/// Values in a cell. REQUIRES: not kNone.
constexpr int64_t ValuesPerCell(IntegerForm form) { return form == IntegerForm::kBytes ? 4 : 2; }
/// Cells of `count` values that follow one another.
constexpr int64_t CellsOf(IntegerForm form, int64_t count) {
  return (count + ValuesPerCell(form) - 1) / ValuesPerCell(form);
}

/// Whether x can be read in place: runs of `run` values along axis `k` are whole cells, and all
/// other strides are whole numbers of cells.
inline bool ReadsCells(const abi::View& x, int k, int64_t run, IntegerForm form) {
  const int64_t per_cell = ValuesPerCell(form);
  if (DTypeBytes(x.dtype) * per_cell != sizeof(float) || run % per_cell != 0) return false;
  for (int axis = 0; axis < x.shape.rank(); ++axis) {
    if (x.shape[axis] <= 1) continue;
    if (axis == k ? x.strides[axis] != 1 : x.strides[axis] % per_cell != 0) return false;
  }
  return true;
}

}  // namespace aicf::cpu
