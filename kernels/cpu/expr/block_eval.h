/// Evaluation of an expression on a block of a two-dimensional, strided piece of the domain: the
/// core of the elementwise kernel and of every epilogue and prologue on the CPU.
#pragma once

#include <cstdint>

#include "kernels/abi/expr.h"

namespace aicf::cpu {

/// data is the address of element (0, 0); strides count elements; a stride of 0 repeats.
struct BlockInput {
  const void* data = nullptr;
  int64_t row_stride = 0;
  int64_t col_stride = 0;
  DType dtype = DType::kF32;  ///< storage dtype; f16 and bf16 are widened on load
};

struct BlockOutput {
  void* data = nullptr;
  int64_t row_stride = 0;
  int64_t col_stride = 1;
  DType dtype = DType::kF32;  ///< storage dtype; the result is rounded on store
};

/// Domain coordinates for ExprOp::kIndex: coordinate of axis a at (r, c) is
/// origin[a] + (a == row_axis ? r : 0) + (a == col_axis ? c : 0). May be null when unused.
struct BlockOrigin {
  const int64_t* origin = nullptr;
  int row_axis = -1;
  int col_axis = -1;
};

/// rows * cols must not exceed this.
inline constexpr int64_t kBlockElements = 1024;

using EvalBlockFn = void (*)(const abi::Expr& expr, int64_t rows, int64_t cols,
                             const BlockInput* inputs, const BlockOutput* outputs,
                             const BlockOrigin* origin);

/// Evaluates expr (not empty) for every (r, c), reading all inputs of the block before writing any
/// output, so an output may be exactly one of the inputs. Uses thread-local scratch; allocates
/// nothing. One per instruction set; each gives results within 2 ULP per operator of the exactly
/// rounded value.
namespace baseline {
void EvalBlock(const abi::Expr&, int64_t, int64_t, const BlockInput*, const BlockOutput*,
               const BlockOrigin*);
}
namespace avx2 {
void EvalBlock(const abi::Expr&, int64_t, int64_t, const BlockInput*, const BlockOutput*,
               const BlockOrigin*);
}
namespace avx512 {
void EvalBlock(const abi::Expr&, int64_t, int64_t, const BlockInput*, const BlockOutput*,
               const BlockOrigin*);
}

}  // namespace aicf::cpu
